// SPDX-License-Identifier: GPL-2.0
/* The trace: one line per event */
#include <stdarg.h>

#include "world.h"

static void trace_time(const struct world *w)
{
	fprintf(w->trace, "%12.6f  ", (double)w->now / NSEC_PER_SEC);
}

void world_trace(const struct world *w, const char *format, ...)
{
	va_list arguments;

	if (!w->trace)
		return;
	trace_time(w);
	va_start(arguments, format);
	vfprintf(w->trace, format, arguments);
	va_end(arguments);
	fputc('\n', w->trace);
}

void world_trace_packet(const struct world *w, const char *what, const struct world_packet *p)
{
	static const char * const types[] = {
		"?", "message", "ack", "goodbye", "probe", "answer", "multicast",
	};
	struct coll_prefix prefix;
	struct coll_body body;

	trace_time(w);
	if (!coll_wire_formed(p->data, p->bytes)) {
		fprintf(w->trace, "%u -> %u %s: not formed\n", p->from, p->to, what);
		return;
	}
	coll_wire_read_prefix(p->data, &prefix);
	coll_wire_read_body(p->data, p->bytes, &body);
	fprintf(w->trace, "%u -> %u %s: [%04x %u>%u] %s", p->from, p->to, what,
		(u32)prefix.tag & 0xffff, prefix.source, prefix.destination,
		types[body.type < ARRAY_SIZE(types) ? body.type : 0]);
	if (body.type == COLL_PACKET_GOODBYE)
		fprintf(w->trace, " last %lld reason %u rank %u",
			(long long)body.operation,
			body.signature.count, body.signature.root);
	else if (body.type != COLL_PACKET_ACK)
		fprintf(w->trace, " op %lld round %u segment %u sig %u.%u.%u.%u.%u",
			(long long)body.operation, body.round, body.segment,
			body.signature.operation, body.signature.algorithm, body.signature.type,
			body.signature.operator, body.signature.count);
	fprintf(w->trace, " packet %llx done %lld credit %lld",
		(unsigned long long)body.number, (long long)body.done, (long long)body.credit);
	if (body.acknowledges)
		fprintf(w->trace, " acks %llx/%llx", (unsigned long long)body.ack_number,
			(unsigned long long)body.ack_bits);
	if (body.flags)
		fprintf(w->trace, " flags %x", body.flags);
	fprintf(w->trace, " inc %08x>%08x", prefix.incarnation, prefix.known);
	if (prefix.epoch)
		fprintf(w->trace, " epoch %08x", prefix.epoch);
	fprintf(w->trace, "%s\n", p->damaged ? " DAMAGED" : "");
}
