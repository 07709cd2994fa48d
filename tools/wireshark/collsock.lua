-- SPDX-License-Identifier: GPL-2.0
-- collsock for Wireshark and tshark: dissects the packets of collective sockets as
-- Documentation/protocol.md describes them. It has no key, so it does not check the MAC.

local proto = Proto("collsock", "Collective Sockets")

proto.prefs.ports = Pref.range("UDP ports", "7607",
	"net.collsock.port of the hosts", 65535)

-- ---- names, as in collsock_lists.h and kernel/core/wire.h ----

local MESSAGE, ACKNOWLEDGMENT, GOODBYE, PROBE, ANSWER = 1, 2, 3, 4, 5

local types = {
	[MESSAGE] = "message", [ACKNOWLEDGMENT] = "acknowledgment", [GOODBYE] = "goodbye",
	[PROBE] = "probe", [ANSWER] = "answer",
}

local kinds = { [0] = "none", "barrier", "allreduce", "reduce", "broadcast" }

local data_types = {
	[0] = "none", "int64", "uint64", "double", "int8", "int16", "int32", "uint8", "uint16",
	"uint32", "float", "float-int", "double-int", "int64-int", "int32-int", "int16-int",
}

local operators = {
	[0] = "none", "sum", "min", "max", "product", "logical-and", "logical-or", "logical-xor",
	"bitwise-and", "bitwise-or", "bitwise-xor", "minloc", "maxloc",
}

local algorithms = { [0] = "none", "dissemination", "pairwise", "binomial", "kary" }

local reasons = { [0] = "left", "silent", "disagrees", "restarted", "ended" }

-- Operations are counted from 0: the number before that means none. No host has this index.
local NONE = 0xffffffff

-- ---- fields ----

local f = {
	version = ProtoField.uint8("collsock.version", "Version"),
	reserved = ProtoField.uint24("collsock.reserved", "Reserved", base.HEX),
	source = ProtoField.uint16("collsock.source", "Sending host"),
	destination = ProtoField.uint16("collsock.destination", "Receiving host"),
	tag = ProtoField.uint64("collsock.tag", "Tag of the group", base.HEX),
	descriptor = ProtoField.uint32("collsock.descriptor", "Hash of the descriptor", base.HEX),
	incarnation = ProtoField.uint32("collsock.incarnation", "Incarnation of the sender",
		base.HEX),
	known = ProtoField.uint32("collsock.known", "Incarnation of the receiver", base.HEX),
	connection = ProtoField.uint32("collsock.connection", "Connection"),
	type = ProtoField.uint8("collsock.type", "Packet", base.DEC, types, 0x3f),
	flag_ack = ProtoField.bool("collsock.flags.ack", "An acknowledgment follows", 8, nil, 0x80),
	flag_operands = ProtoField.bool("collsock.flags.operands", "Operands follow", 8, nil, 0x40),
	round = ProtoField.uint8("collsock.round", "Round"),
	segment = ProtoField.uint16("collsock.segment", "Segment"),
	seq = ProtoField.uint32("collsock.seq", "Sequence number"),
	done = ProtoField.uint32("collsock.done", "Done"),
	credit = ProtoField.uint32("collsock.credit", "Credit"),
	operation = ProtoField.uint32("collsock.operation", "Operation"),
	kind = ProtoField.uint8("collsock.kind", "Kind", base.DEC, kinds),
	data_type = ProtoField.uint8("collsock.data_type", "Type", base.DEC, data_types),
	operator = ProtoField.uint8("collsock.operator", "Operator", base.DEC, operators),
	algorithm = ProtoField.uint8("collsock.algorithm", "Algorithm", base.DEC, algorithms),
	count = ProtoField.uint32("collsock.count", "Count"),
	root = ProtoField.uint32("collsock.root", "Root"),
	reason = ProtoField.uint32("collsock.reason", "Reason", base.DEC, reasons),
	rank = ProtoField.uint32("collsock.rank", "Rank to blame"),
	ack_connection = ProtoField.uint32("collsock.ack.connection", "Connection"),
	ack_seq = ProtoField.uint32("collsock.ack.seq", "Highest sequence number"),
	ack_bits = ProtoField.uint64("collsock.ack.bits", "Bitmap", base.HEX),
	payload = ProtoField.bytes("collsock.payload", "Payload"),
	nonce = ProtoField.uint64("collsock.nonce", "Nonce"),
	waits_for = ProtoField.uint32("collsock.waits_for", "Waits for host"),
	waits_operation = ProtoField.uint32("collsock.waits_operation", "In operation"),
	waits_rank = ProtoField.uint32("collsock.waits_rank", "For rank"),
	waited_ms = ProtoField.uint32("collsock.waited_ms", "Milliseconds"),
	age_ms = ProtoField.uint32("collsock.age_ms", "Age in milliseconds"),
	hops = ProtoField.uint32("collsock.hops", "Hosts that relayed it"),
	mac = ProtoField.uint64("collsock.mac", "MAC", base.HEX),
	same_as = ProtoField.framenum("collsock.same_as", "The same message as"),
}
proto.fields = f

local function malformed(name, text)
	return ProtoExpert.new("collsock." .. name, text, expert.group.MALFORMED,
		expert.severity.ERROR)
end

local e = {
	short = malformed("malformed.short", "Too short for a packet of its type"),
	long = malformed("malformed.long", "Too long for a packet of its type"),
	version = malformed("malformed.version", "Unknown version"),
	reserved = malformed("malformed.reserved", "Reserved bytes are not 0"),
	incarnation = malformed("malformed.incarnation", "The sender has no incarnation"),
	type = malformed("malformed.type", "Unknown type"),
	seq = malformed("malformed.seq", "Probes and answers have no sequence number"),
	again = ProtoExpert.new("collsock.again", "Retransmitted", expert.group.SEQUENCE,
		expert.severity.NOTE),
	goodbye = ProtoExpert.new("collsock.goodbye", "Operations beyond one cannot complete",
		expert.group.RESPONSE_CODE, expert.severity.WARN),
}
proto.experts = e

-- ---- form ----

local PREFIX, HEADER, OPERANDS, ACK, MAC = 32, 56, 8, 16, 8
local MAX_SEGMENT = 8640
local MIN = HEADER + MAC
local MAX = MIN + OPERANDS + ACK + MAX_SEGMENT
-- Payload bytes of each type; messages may have any number
local payloads = { [ACKNOWLEDGMENT] = 0, [GOODBYE] = 0, [PROBE] = 8, [ANSWER] = 32 }

-- Why coll_wire_formed() refuses a packet; nil if it is well-formed.
local function fault(tvb)
	local bytes = tvb:len()
	if bytes < MIN then
		return e.short
	elseif bytes > MAX then
		return e.long
	elseif tvb(0, 1):uint() ~= 1 then
		return e.version
	elseif tvb(1, 3):uint() ~= 0 then
		return e.reserved
	elseif tvb(20, 4):uint() == 0 then
		return e.incarnation
	end
	local flags = tvb(32, 1):uint()
	local kind = flags % 0x40
	local least = MIN
	if flags >= 0x80 then
		least = least + ACK
	end
	if flags % 0x80 >= 0x40 then
		least = least + OPERANDS
	end
	if not types[kind] then
		return e.type
	elseif bytes < least + (payloads[kind] or 0) then
		return e.short
	elseif payloads[kind] and bytes > least + payloads[kind] then
		return e.long
	elseif (kind == PROBE or kind == ANSWER) and tvb(36, 4):uint() ~= 0 then
		return e.seq
	end
end

-- ---- parts of a packet ----

-- A number with one special value.
local function add_number(tree, field, range, value, meaning)
	local item = tree:add(field, range)
	if range:uint() == value then
		item:append_text(" (" .. meaning .. ")")
	end
end

local function prefix(tvb, tree)
	local part = tree:add(proto, tvb(0, PREFIX), "Connection")
	part:add(f.version, tvb(0, 1))
	part:add(f.reserved, tvb(1, 3))
	part:add(f.source, tvb(4, 2))
	part:add(f.destination, tvb(6, 2))
	part:add(f.tag, tvb(8, 8))
	part:add(f.descriptor, tvb(16, 4))
	part:add(f.incarnation, tvb(20, 4))
	add_number(part, f.known, tvb(24, 4), 0, "never heard from")
	part:add(f.connection, tvb(28, 4))
	part:append_text(string.format(": host %d to host %d", tvb(4, 2):uint(), tvb(6, 2):uint()))
end

local function body(tvb, tree)
	tree:add(f.flag_ack, tvb(32, 1))
	tree:add(f.flag_operands, tvb(32, 1))
	tree:add(f.type, tvb(32, 1))
	tree:add(f.round, tvb(33, 1))
	tree:add(f.segment, tvb(34, 2))
	local seq = tree:add(f.seq, tvb(36, 4))
	add_number(tree, f.done, tvb(40, 4), NONE, "none")
	tree:add(f.credit, tvb(44, 4))
	add_number(tree, f.operation, tvb(48, 4), NONE, "none")
	local part = tree:add(proto, tvb(52, 4), "Signature")
	part:add(f.kind, tvb(52, 1))
	part:add(f.data_type, tvb(53, 1))
	part:add(f.operator, tvb(54, 1))
	part:add(f.algorithm, tvb(55, 1))
	return seq
end

-- Count and root; for a goodbye, reason and rank.
local function operands(tvb, at, kind, tree)
	if kind == GOODBYE then
		tree:add(f.reason, tvb(at, 4))
		tree:add(f.rank, tvb(at + 4, 4))
	else
		tree:add(f.count, tvb(at, 4))
		tree:add(f.root, tvb(at + 4, 4))
	end
end

local function acknowledgment(tvb, at, tree)
	local part = tree:add(proto, tvb(at, ACK), "Acknowledgment")
	part:add(f.ack_connection, tvb(at, 4))
	part:add(f.ack_seq, tvb(at + 4, 4))
	part:add(f.ack_bits, tvb(at + 8, 8))
	part:append_text(string.format(": through %d", tvb(at + 4, 4):uint()))
end

local function payload(tvb, at, bytes, kind, tree)
	if kind == MESSAGE and bytes > 0 then
		tree:add(f.payload, tvb(at, bytes))
	elseif kind == PROBE or kind == ANSWER then
		tree:add(f.nonce, tvb(at, 8))
	end
	if kind == ANSWER then
		add_number(tree, f.waits_for, tvb(at + 8, 4), NONE, "no host")
		add_number(tree, f.waits_rank, tvb(at + 12, 4), NONE, "unknown")
		tree:add(f.waits_operation, tvb(at + 16, 4))
		tree:add(f.waited_ms, tvb(at + 20, 4))
		tree:add(f.age_ms, tvb(at + 24, 4))
		tree:add(f.hops, tvb(at + 28, 4))
	end
end

-- ---- info column of the packet list ----

local function number_of(value)
	return value == NONE and "none" or tostring(value)
end

local function operation_of(tvb)
	local segment = tvb(34, 2):uint()
	return string.format("op %s round %d%s", number_of(tvb(48, 4):uint()), tvb(33, 1):uint(),
		segment > 0 and " segment " .. segment or "")
end

local function goodbye_of(tvb, at, flagged)
	local reason, rank = 0, 0
	if flagged then
		reason, rank = tvb(at, 4):uint(), tvb(at + 4, 4):uint()
	end
	return string.format("rank %d %s", rank, reasons[reason] or "reason " .. reason)
end

local function answer_of(tvb, at)
	local host = tvb(at + 8, 4):uint()
	if host == NONE then
		return "waits for no host"
	end
	return string.format("waits for h%d in op %d since %d ms", host, tvb(at + 16, 4):uint(),
		tvb(at + 20, 4):uint() + tvb(at + 24, 4):uint())
end

-- packet type, operation, source and destination, then type-specific fields
local function summary(tvb, kind, operands_at, ack_at, payload_at, payload_bytes)
	local words = { types[kind] }
	if kind == MESSAGE then
		table.insert(words, operation_of(tvb))
	elseif kind == GOODBYE then
		table.insert(words, "after op " .. number_of(tvb(48, 4):uint()))
	elseif kind == PROBE and tvb(52, 1):uint() ~= 0 then
		table.insert(words, "op " .. tvb(48, 4):uint())
	end
	table.insert(words, string.format("h%d→h%d", tvb(4, 2):uint(), tvb(6, 2):uint()))
	if kind == MESSAGE then
		table.insert(words, kinds[tvb(52, 1):uint()] or "kind " .. tvb(52, 1):uint())
	elseif kind == GOODBYE then
		table.insert(words, goodbye_of(tvb, operands_at or 0, operands_at))
	elseif kind == ANSWER then
		table.insert(words, answer_of(tvb, payload_at))
	end
	if kind == MESSAGE and payload_bytes > 0 then
		table.insert(words, payload_bytes .. " bytes")
	end
	if tvb(36, 4):uint() ~= 0 then
		table.insert(words, "seq " .. tvb(36, 4):uint())
	end
	if ack_at then
		table.insert(words, "ack " .. tvb(ack_at + 4, 4):uint())
	end
	return table.concat(words, " ")
end

-- ---- retransmissions ----

-- Frame of the first message with a sequence number, keyed by:
local first_frame = {}

function proto.init()
	first_frame = {}
end

-- Source, destination, tag; incarnation; connection; sequence number
local function identity(tvb)
	return tvb(4, 12):bytes():raw() .. tvb(20, 4):bytes():raw() .. tvb(28, 4):bytes():raw() ..
		tvb(36, 4):bytes():raw()
end

local function repetition(tvb, frame, item, tree)
	if tvb(36, 4):uint() == 0 then
		return ""
	end
	local name = identity(tvb)
	first_frame[name] = first_frame[name] or frame
	if first_frame[name] >= frame then
		return ""
	end
	item:add_proto_expert_info(e.again)
	tree:add(f.same_as, first_frame[name]):set_generated()
	return " [again]"
end

-- ---- the dissector ----

local function dissect(tvb, pinfo, tree)
	local flags = tvb(32, 1):uint()
	local kind = flags % 0x40
	local at, operands_at, ack_at = HEADER, nil, nil
	prefix(tvb, tree)
	local seq = body(tvb, tree)
	if flags % 0x80 >= 0x40 then
		operands_at = at
		operands(tvb, at, kind, tree)
		at = at + OPERANDS
	elseif kind == GOODBYE then
		tree:add(f.reason, 0):set_generated()
		tree:add(f.rank, 0):set_generated()
	end
	if flags >= 0x80 then
		ack_at = at
		acknowledgment(tvb, at, tree)
		at = at + ACK
	end
	local bytes = tvb:len() - MAC - at
	payload(tvb, at, bytes, kind, tree)
	tree:add(f.mac, tvb(tvb:len() - MAC, MAC))
	if kind == GOODBYE then
		tree:add_proto_expert_info(e.goodbye)
	end
	pinfo.cols.info = summary(tvb, kind, operands_at, ack_at, at, bytes) ..
		repetition(tvb, pinfo.number, seq, tree)
end

function proto.dissector(tvb, pinfo, root)
	pinfo.cols.protocol = "collsock"
	local tree = root:add(proto, tvb())
	local wrong = fault(tvb)
	if wrong then
		pinfo.cols.info = string.format("malformed, %d bytes", tvb:len())
		tree:add_proto_expert_info(wrong)
	else
		dissect(tvb, pinfo, tree)
	end
	return tvb:len()
end

-- ---- ports ----

local udp = DissectorTable.get("udp.port")
local registered

local function register()
	if registered ~= proto.prefs.ports then
		if registered then
			udp:remove(registered, proto)
		end
		registered = proto.prefs.ports
		udp:add(registered, proto)
	end
end

proto.prefs_changed = register
register()
