-- SPDX-License-Identifier: GPL-2.0
-- collsock for Wireshark and tshark: dissects the packets of collective sockets as
-- Documentation/protocol.md describes them. It has no key, so it does not check the MAC.

local proto = Proto("collsock", "Collective Sockets")

proto.prefs.ports = Pref.range("UDP ports", "7607",
	"the tunable port of the hosts", 65535)
proto.prefs.ethertype = Pref.uint("EtherType", 0x88b5,
	"the tunable ethertype of the hosts; 0: none")

-- ---- names, as in collsock_lists.h and kernel/core/wire.h ----

local MESSAGE, ACKNOWLEDGMENT, GOODBYE, PROBE, ANSWER, MULTICAST = 1, 2, 3, 4, 5, 6

local types = {
	[MESSAGE] = "message", [ACKNOWLEDGMENT] = "acknowledgment", [GOODBYE] = "goodbye",
	[PROBE] = "probe", [ANSWER] = "answer", [MULTICAST] = "multicast",
}

local kinds = {
	[0] = "none", "barrier", "allreduce", "reduce", "broadcast", "allgather", "gather",
	"scatter", "reduce-scatter-block", "scan", "exscan",
}

local data_types = {
	[0] = "none", "int64", "uint64", "double", "int8", "int16", "int32", "uint8", "uint16",
	"uint32", "float", "float-int", "double-int", "int64-int", "int32-int", "int16-int",
	"byte", "exact", "float16", "bfloat16",
}

local operators = {
	[0] = "none", "sum", "min", "max", "product", "logical-and", "logical-or", "logical-xor",
	"bitwise-and", "bitwise-or", "bitwise-xor", "minloc", "maxloc",
}

local algorithms = {
	[0] = "none", "dissemination", "exchange", "binomial", "kary", "flat", "mcs", "hillis-steele",
	"halving",
}

local reasons = {
	[0] = "left", "silent", "disagrees", "restarted", "ended", "version", "refused",
}

-- Not a host or rank
local NOBODY = 0xffffffff
-- Operations are counted from 0: the number before that means none
local NONE = UInt64.max()
-- Instead of a distance: the number is too far from the operation
local NOT_TOLD = 0x7fff
-- Packet numbers of a time-wait entry: this, and the number of the packet that it answers
local TIMEWAIT = UInt64.new(0, 0x80000000)

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
	epoch = ProtoField.uint32("collsock.epoch", "Epoch"),
	type = ProtoField.uint8("collsock.type", "Packet", base.DEC, types),
	ce = ProtoField.uint8("collsock.ce", "Packets marked as having met congestion"),
	flags = ProtoField.uint16("collsock.flags", "Flags", base.HEX),
	flag_operands = ProtoField.bool("collsock.flags.operands", "Operands follow", 16, nil,
		0x0001),
	flag_ack = ProtoField.bool("collsock.flags.ack", "An acknowledgment follows", 16, nil,
		0x0002),
	flag_position = ProtoField.bool("collsock.flags.position", "A position follows", 16, nil,
		0x0004),
	flag_copied = ProtoField.bool("collsock.flags.copied", "The latest for all came by multicast",
		16, nil, 0x0200),
	flag_copied_below = ProtoField.bool("collsock.flags.copied_below",
		"So it did at a host below", 16, nil, 0x0400),
	flag_ack_now = ProtoField.bool("collsock.flags.ack_now", "Acknowledge at once", 16, nil,
		0x0100),
	number = ProtoField.uint64("collsock.number", "Number of the packet"),
	done = ProtoField.uint64("collsock.done", "Done"),
	credit = ProtoField.uint64("collsock.credit", "Credit"),
	operation = ProtoField.uint64("collsock.operation", "Operation"),
	segment = ProtoField.uint16("collsock.segment", "Segment"),
	round = ProtoField.uint8("collsock.round", "Round"),
	kind = ProtoField.uint8("collsock.kind", "Kind", base.DEC, kinds),
	data_type = ProtoField.uint8("collsock.data_type", "Type", base.DEC, data_types),
	operator = ProtoField.uint8("collsock.operator", "Operator", base.DEC, operators),
	algorithm = ProtoField.uint8("collsock.algorithm", "Algorithm", base.DEC, algorithms),
	degree = ProtoField.uint8("collsock.degree", "Degree of the algorithm"),
	count = ProtoField.uint32("collsock.count", "Count"),
	root = ProtoField.uint32("collsock.root", "Root"),
	reason = ProtoField.uint32("collsock.reason", "Reason", base.DEC, reasons),
	rank = ProtoField.uint32("collsock.rank", "Rank to blame"),
	ack_number = ProtoField.uint64("collsock.ack.number", "Highest packet number"),
	ack_bits = ProtoField.uint64("collsock.ack.bits", "Bitmap", base.HEX),
	position_operation = ProtoField.uint64("collsock.position.operation", "Operation"),
	position_first = ProtoField.uint16("collsock.position.first",
		"First segment that has not come"),
	position_round = ProtoField.uint8("collsock.position.round", "Round"),
	position_bits = ProtoField.uint64("collsock.position.bits", "Bitmap", base.HEX),
	payload = ProtoField.bytes("collsock.payload", "Payload"),
	nonce = ProtoField.uint64("collsock.nonce", "Nonce"),
	waits_for = ProtoField.uint32("collsock.waits_for", "Waits for host"),
	waits_operation = ProtoField.uint64("collsock.waits_operation", "In operation"),
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

local function unknown(name, text)
	return ProtoExpert.new("collsock." .. name, text, expert.group.UNDECODED,
		expert.severity.WARN)
end

local e = {
	short = malformed("malformed.short", "Too short for a packet of its type"),
	long = malformed("malformed.long", "Too long for a packet of its type"),
	version = malformed("malformed.version", "No version"),
	reserved = malformed("malformed.reserved", "Reserved bytes are not 0"),
	epoch = malformed("malformed.epoch", "An epoch does not fit the type, or is missing"),
	position = malformed("malformed.position", "A position is not that of an acknowledgment"),
	all = malformed("malformed.all", "A packet for all names a receiver, or acknowledges"),
	incarnation = malformed("malformed.incarnation", "The sender has no incarnation"),
	type = malformed("malformed.type", "No type"),
	number = malformed("malformed.number", "The packet has no number"),
	other_version = unknown("other_version", "Another version of the format"),
	unknown_type = unknown("unknown_type", "Unknown type"),
	unknown_part = unknown("unknown_part", "An unknown part follows"),
	again = ProtoExpert.new("collsock.again", "Retransmitted", expert.group.SEQUENCE,
		expert.severity.NOTE),
	goodbye = ProtoExpert.new("collsock.goodbye", "Operations beyond one cannot complete",
		expert.group.RESPONSE_CODE, expert.severity.WARN),
}
proto.experts = e

-- ---- form ----

local VERSION = 2
local PREFIX, HEADER, OPERANDS, ACK, POSITION, MAC = 32, 64, 8, 16, 24, 8
-- In the place of the receiving host
local ALL = 0xffff
local MAX_SEGMENT = 8640
local MIN = HEADER + MAC
local MAX = MIN + OPERANDS + ACK + MAX_SEGMENT
-- Bytes of version, hosts, tag and MAC, which are the same in all versions
local COMMON = 16 + MAC
-- Payload bytes of each type; messages may have any number, an acknowledgment a position
local payloads = { [ACKNOWLEDGMENT] = 0, [GOODBYE] = 0, [PROBE] = 8, [ANSWER] = 40 }

-- Offsets of the parts that follow the body; false for a missing one.
local function parts_of(tvb)
	local flags = tvb(34, 2)
	local operands, ack = flags:bitfield(15, 1) == 1, flags:bitfield(14, 1) == 1
	local position = flags:bitfield(13, 1) == 1
	local ack_at = HEADER + (operands and OPERANDS or 0)
	return {
		operands = operands and HEADER, ack = ack and ack_at,
		payload = ack_at + (ack and ACK or 0), position = position,
	}
end

-- A flag in the lower byte, except the three of parts_of()
local function has_unknown_part(tvb)
	return tvb(34, 2):bitfield(8, 5) ~= 0
end

local function fault_of_length(tvb)
	local packet_type = tvb(32, 1):uint()
	local at = parts_of(tvb)
	local least = at.payload + (payloads[packet_type] or 0) + (at.position and POSITION or 0) + MAC
	if tvb:len() < least then
		return e.short
	elseif payloads[packet_type] and tvb:len() > least then
		return e.long
	end
end

-- What only some types have
local function fault_of_type(tvb)
	local packet_type, epoch = tvb(32, 1):uint(), tvb(28, 4):uint()
	local at = parts_of(tvb)
	if packet_type ~= MESSAGE and (epoch ~= 0) ~= (packet_type == MULTICAST) then
		return e.epoch
	elseif at.position and (packet_type ~= ACKNOWLEDGMENT or not at.ack) then
		return e.position
	elseif packet_type == MULTICAST and
			(tvb(24, 4):uint() ~= 0 or tvb(6, 2):uint() ~= ALL or at.ack) then
		return e.all
	end
end

local function fault_of_header(tvb)
	if tvb(32, 1):uint() > MULTICAST then
		return e.unknown_type
	elseif has_unknown_part(tvb) then
		return e.unknown_part
	elseif tvb(32, 1):uint() == 0 then
		return e.type
	elseif tvb(20, 4):uint() == 0 then
		return e.incarnation
	elseif tvb(40, 8):uint64() == UInt64.new(0) then
		return e.number
	end
	return fault_of_type(tvb)
end

-- Why coll_wire_formed() refuses a packet; nil if it is well-formed. Packets of another
-- version or a later module are recognised first, as in the core.
local function fault(tvb)
	local bytes = tvb:len()
	local version = tvb(0, 1):uint()
	if bytes > MAX then
		return e.long
	elseif bytes >= COMMON and version ~= 0 and version ~= VERSION then
		return e.other_version
	elseif bytes < MIN then
		return e.short
	elseif version == 0 then
		return e.version
	elseif tvb(1, 3):uint() ~= 0 then
		return e.reserved
	end
	return fault_of_header(tvb) or fault_of_length(tvb)
end

-- ---- parts of a packet ----

-- A number with one special value.
local function add_number(tree, field, range, value, meaning)
	local item = tree:add(field, range)
	if range:uint() == value then
		item:append_text(" (" .. meaning .. ")")
	end
end

-- The number of an operation; the value is not that of the bytes if these tell a distance.
local function add_operation(tree, field, range, value)
	local item = tree:add(field, range, value)
	if value == NONE then
		item:append_text(" (none)")
	end
	return item
end

local function add_distance(tree, field, range, operation, name)
	local distance = range:int()
	if distance == NOT_TOLD then
		tree:add(range, name .. ": not told")
		return
	end
	local value = distance < 0 and operation - UInt64.new(-distance) or
		operation + UInt64.new(distance)
	add_operation(tree, field, range, value):append_text(
		string.format(" (operation %+d)", distance))
end

local function ends(tvb, tree)
	tree:add(f.source, tvb(4, 2))
	tree:add(f.destination, tvb(6, 2))
	tree:add(f.tag, tvb(8, 8))
end

local function prefix(tvb, tree)
	local part = tree:add(proto, tvb(0, PREFIX), "Connection")
	part:add(f.version, tvb(0, 1))
	part:add(f.reserved, tvb(1, 3))
	ends(tvb, part)
	part:add(f.descriptor, tvb(16, 4))
	part:add(f.incarnation, tvb(20, 4))
	add_number(part, f.known, tvb(24, 4), 0, "never heard from")
	part:add(f.epoch, tvb(28, 4))
	part:append_text(string.format(": host %d to host %d", tvb(4, 2):uint(), tvb(6, 2):uint()))
end

local function type_and_flags(tvb, tree)
	tree:add(f.type, tvb(32, 1))
	local part = tree:add(f.flags, tvb(34, 2))
	part:add(f.flag_operands, tvb(34, 2))
	part:add(f.flag_ack, tvb(34, 2))
	part:add(f.flag_position, tvb(34, 2))
	part:add(f.flag_ack_now, tvb(34, 2))
	part:add(f.flag_copied, tvb(34, 2))
	part:add(f.flag_copied_below, tvb(34, 2))
end

-- Returns the item of the packet's number.
local function body(tvb, tree)
	type_and_flags(tvb, tree)
	tree:add(f.ce, tvb(33, 1))
	local number = tree:add(f.number, tvb(40, 8))
	local operation = tvb(48, 8):uint64()
	add_operation(tree, f.operation, tvb(48, 8), operation)
	add_distance(tree, f.done, tvb(36, 2), operation, "Done")
	add_distance(tree, f.credit, tvb(38, 2), operation, "Credit")
	tree:add(f.segment, tvb(56, 2))
	tree:add(f.round, tvb(58, 1))
	local part = tree:add(proto, tvb(59, 5), "Signature")
	part:add(f.kind, tvb(59, 1))
	part:add(f.data_type, tvb(60, 1))
	part:add(f.operator, tvb(61, 1))
	part:add(f.algorithm, tvb(62, 1))
	part:add(f.degree, tvb(63, 1))
	return number
end

-- Count and root; for a goodbye, reason and rank, which are 0 if there are no operands.
local function operands(tvb, at, packet_type, tree)
	if packet_type == GOODBYE and at then
		tree:add(f.reason, tvb(at, 4))
		tree:add(f.rank, tvb(at + 4, 4))
	elseif packet_type == GOODBYE then
		tree:add(f.reason, 0):set_generated()
		tree:add(f.rank, 0):set_generated()
	elseif at then
		tree:add(f.count, tvb(at, 4))
		tree:add(f.root, tvb(at + 4, 4))
	end
end

local function acknowledgment(tvb, at, tree)
	local part = tree:add(proto, tvb(at, ACK), "Acknowledgment")
	part:add(f.ack_number, tvb(at, 8))
	part:add(f.ack_bits, tvb(at + 8, 8))
	part:append_text(": through " .. tostring(tvb(at, 8):uint64()))
end

local function position(tvb, at, tree)
	local part = tree:add(proto, tvb(at, POSITION), "Position")
	part:add(f.position_operation, tvb(at, 8))
	part:add(f.position_first, tvb(at + 8, 2))
	part:add(f.position_round, tvb(at + 10, 1))
	part:add(f.position_bits, tvb(at + 16, 8))
end

local function is_message(packet_type)
	return packet_type == MESSAGE or packet_type == MULTICAST
end

local function payload(tvb, at, bytes, packet_type, tree)
	if is_message(packet_type) and bytes > 0 then
		tree:add(f.payload, tvb(at, bytes))
	elseif packet_type == PROBE or packet_type == ANSWER then
		tree:add(f.nonce, tvb(at, 8))
	end
	if packet_type == ANSWER then
		add_number(tree, f.waits_for, tvb(at + 8, 4), NOBODY, "no host")
		add_number(tree, f.waits_rank, tvb(at + 12, 4), NOBODY, "unknown")
		tree:add(f.waits_operation, tvb(at + 16, 8))
		tree:add(f.waited_ms, tvb(at + 24, 4))
		tree:add(f.age_ms, tvb(at + 28, 4))
		tree:add(f.hops, tvb(at + 32, 4))
	end
end

local function mac(tvb, tree)
	tree:add(f.mac, tvb(tvb:len() - MAC, MAC))
end

-- ---- info column of the packet list ----

local function operation_text(value)
	return value == NONE and "none" or tostring(value)
end

local function message_text(tvb)
	local segment = tvb(56, 2):uint()
	return string.format("op %s round %d%s", operation_text(tvb(48, 8):uint64()),
		tvb(58, 1):uint(), segment > 0 and " segment " .. segment or "")
end

local function goodbye_text(tvb, at)
	local reason, rank = 0, 0
	if at then
		reason, rank = tvb(at, 4):uint(), tvb(at + 4, 4):uint()
	end
	return string.format("rank %d %s", rank, reasons[reason] or "reason " .. reason)
end

local function answer_text(tvb, at)
	local host = tvb(at + 8, 4):uint()
	if host == NOBODY then
		return "waits for no host"
	end
	return string.format("waits for h%d in op %s since %d ms", host,
		tostring(tvb(at + 16, 8):uint64()), tvb(at + 24, 4):uint() + tvb(at + 28, 4):uint())
end

local function is_of_timewait(number)
	return number >= TIMEWAIT
end

local function number_text(number)
	if is_of_timewait(number) then
		return "time-wait's packet " .. tostring(number - TIMEWAIT)
	end
	return "packet " .. tostring(number)
end

local function is_for_all(tvb)
	return tvb:len() >= MIN and tvb(0, 1):uint() == VERSION and tvb(32, 1):uint() == MULTICAST
end

local function ends_text(tvb)
	if is_for_all(tvb) then
		return string.format("h%d→all", tvb(4, 2):uint())
	end
	return string.format("h%d→h%d", tvb(4, 2):uint(), tvb(6, 2):uint())
end

-- packet type, operation, source and destination, then type-specific fields
local function summary(tvb, packet_type, at, payload_bytes)
	local words = { types[packet_type] }
	if is_message(packet_type) then
		table.insert(words, message_text(tvb))
	elseif packet_type == GOODBYE then
		table.insert(words, "after op " .. operation_text(tvb(48, 8):uint64()))
	elseif packet_type == PROBE and tvb(59, 1):uint() ~= 0 then
		table.insert(words, "op " .. tostring(tvb(48, 8):uint64()))
	end
	table.insert(words, ends_text(tvb))
	if is_message(packet_type) then
		table.insert(words, kinds[tvb(59, 1):uint()] or "kind " .. tvb(59, 1):uint())
	elseif packet_type == GOODBYE then
		table.insert(words, goodbye_text(tvb, at.operands))
	elseif packet_type == ANSWER then
		table.insert(words, answer_text(tvb, at.payload))
	end
	if is_message(packet_type) and payload_bytes > 0 then
		table.insert(words, payload_bytes .. " bytes")
	end
	table.insert(words, number_text(tvb(40, 8):uint64()))
	if at.ack then
		table.insert(words, "ack " .. tostring(tvb(at.ack, 8):uint64()))
	end
	return table.concat(words, " ")
end

-- ---- retransmissions ----

-- Frame of the first packet of a message or goodbye, keyed by:
local first_frame = {}

function proto.init()
	first_frame = {}
end

-- Source, destination, tag; incarnation; type; operation, segment, round
local function identity(tvb)
	return tvb(4, 12):bytes():raw() .. tvb(20, 4):bytes():raw() .. tvb(32, 1):bytes():raw() ..
		tvb(48, 11):bytes():raw()
end

-- A time-wait entry does not send again, it answers again.
local function is_sent_again(tvb, packet_type)
	return packet_type == MESSAGE or
		packet_type == GOODBYE and not is_of_timewait(tvb(40, 8):uint64())
end

local function repetition(tvb, packet_type, frame, item, tree)
	if not is_sent_again(tvb, packet_type) then
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
	local packet_type, at = tvb(32, 1):uint(), parts_of(tvb)
	local bytes = tvb:len() - MAC - at.payload
	prefix(tvb, tree)
	local number = body(tvb, tree)
	operands(tvb, at.operands, packet_type, tree)
	if at.ack then
		acknowledgment(tvb, at.ack, tree)
	end
	if at.position then
		position(tvb, at.payload, tree)
	end
	payload(tvb, at.payload, bytes, packet_type, tree)
	mac(tvb, tree)
	if packet_type == GOODBYE then
		tree:add_proto_expert_info(e.goodbye)
	end
	pinfo.cols.info = summary(tvb, packet_type, at, bytes) ..
		repetition(tvb, packet_type, pinfo.number, number, tree)
end

-- What another version, or a later module of this one, has in the same place.
local function dissect_unknown(tvb, pinfo, tree, wrong)
	local what
	if wrong == e.other_version then
		what = "version " .. tvb(0, 1):uint()
		tree:add(f.version, tvb(0, 1))
		ends(tvb, tree)
	else
		what = wrong == e.unknown_type and "type " .. tvb(32, 1):uint() or
			string.format("unknown part, flags %#06x", tvb(34, 2):uint())
		prefix(tvb, tree)
		type_and_flags(tvb, tree)
	end
	mac(tvb, tree)
	pinfo.cols.info = string.format("%s %s %d bytes", what, ends_text(tvb), tvb:len())
end

function proto.dissector(tvb, pinfo, root)
	pinfo.cols.protocol = "collsock"
	local tree = root:add(proto, tvb())
	local wrong = fault(tvb)
	if not wrong then
		dissect(tvb, pinfo, tree)
		return tvb:len()
	end
	tree:add_proto_expert_info(wrong)
	if wrong == e.other_version or wrong == e.unknown_type or wrong == e.unknown_part then
		dissect_unknown(tvb, pinfo, tree, wrong)
	else
		pinfo.cols.info = string.format("malformed, %d bytes", tvb:len())
	end
	return tvb:len()
end

-- ---- ports and EtherTypes ----

local udp = DissectorTable.get("udp.port")
local ethernet = DissectorTable.get("ethertype")
local ports, ethertype

local function register()
	if ports ~= proto.prefs.ports then
		if ports then
			udp:remove(ports, proto)
		end
		ports = proto.prefs.ports
		udp:add(ports, proto)
	end
	if ethertype ~= proto.prefs.ethertype then
		if ethertype and ethertype > 0 then
			ethernet:remove(ethertype, proto)
		end
		ethertype = proto.prefs.ethertype
		if ethertype > 0 then
			ethernet:add(ethertype, proto)
		end
	end
end

proto.prefs_changed = register
register()
