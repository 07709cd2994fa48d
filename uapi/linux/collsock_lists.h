/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What collsock numbers and names, one line each: a list is a macro that hands its lines to
 * another one. Enumerations, names in tools and traces, tables of counters are made
 * from these.
 *
 * Numbers are on the wire or in the interface, so lines are appended and none is changed.
 */
#ifndef _UAPI_LINUX_COLLSOCK_LISTS_H
#define _UAPI_LINUX_COLLSOCK_LISTS_H

/* LINE(identifier, number, name) */
#define COLLSOCK_OPERATION_LIST(LINE)						\
	LINE(BARRIER,		1,	"barrier")				\
	LINE(ALLREDUCE,		2,	"allreduce")				\
	LINE(REDUCE,		3,	"reduce") /* the root receives */	\
	LINE(BROADCAST,		4,	"broadcast") /* the root contributes, all others receive */

/* What an element is; LINE(identifier, number, name) */
#define COLLSOCK_TYPE_LIST(LINE)						\
	LINE(NONE,		0,	"none")	/* of a barrier */		\
	LINE(INT64,		1,	"int64")				\
	LINE(UINT64,		2,	"uint64")				\
	LINE(DOUBLE,		3,	"double")				\
	LINE(INT8,		4,	"int8")					\
	LINE(INT16,		5,	"int16")				\
	LINE(INT32,		6,	"int32")				\
	LINE(UINT8,		7,	"uint8")				\
	LINE(UINT16,		8,	"uint16")				\
	LINE(UINT32,		9,	"uint32")				\
	LINE(FLOAT,		10,	"float")				\
	/* A value and an int32, its index, without padding: 8, 12, 12, 8, 6 bytes */ \
	LINE(FLOAT_INT,		11,	"float-int")				\
	LINE(DOUBLE_INT,	12,	"double-int")				\
	LINE(INT64_INT,		13,	"int64-int")				\
	LINE(INT32_INT,		14,	"int32-int")				\
	LINE(INT16_INT,		15,	"int16-int")

/* LINE(identifier, number, name) */
#define COLLSOCK_OPERATOR_LIST(LINE)						\
	LINE(NOP,		0,	"none")	/* of a barrier */		\
	LINE(SUM,		1,	"sum")					\
	LINE(MIN,		2,	"min")					\
	LINE(MAX,		3,	"max")					\
	LINE(PRODUCT,		4,	"product")				\
	/* Of integers. Logical: what is not 0 is true, the result is 0 or 1. */ \
	LINE(LOGICAL_AND,	5,	"logical-and")				\
	LINE(LOGICAL_OR,	6,	"logical-or")				\
	LINE(LOGICAL_XOR,	7,	"logical-xor")				\
	LINE(BITWISE_AND,	8,	"bitwise-and")				\
	LINE(BITWISE_OR,	9,	"bitwise-or")				\
	LINE(BITWISE_XOR,	10,	"bitwise-xor")				\
	/* Of pairs: the least or greatest value; of equal ones the smallest index */ \
	LINE(MINLOC,		11,	"minloc")				\
	LINE(MAXLOC,		12,	"maxloc")

/* LINE(identifier, number, name); the group's choice, AUTO, is number 0 */
#define COLLSOCK_ALGORITHM_LIST(LINE)						\
	LINE(DISSEMINATION,	1,	"dissemination") /* barrier */		\
	LINE(PAIRWISE_EXCHANGE,	2,	"pairwise") /* recursive doubling if it carries data */ \
	LINE(BINOMIAL,		3,	"binomial") /* tree; up and down where all receive */ \
	LINE(KARY,		4,	"kary")	/* the same with the group's fan-out */

/* A line of an enumeration */
#define COLLSOCK_NUMBER(identifier, number, name)	COLLSOCK_##identifier = number,

/* A line of a table of names: const char *names[] */
#define COLLSOCK_NAME(identifier, number, name)		[number] = name,

#endif /* _UAPI_LINUX_COLLSOCK_LISTS_H */
