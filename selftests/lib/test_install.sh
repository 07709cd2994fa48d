#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The installed package is complete, works with pkg-config from C and C++, and is removed
# completely. Speaks TAP.
# shellcheck disable=SC2317 # the functions are called by check
set -u
here=$(cd "$(dirname "$0")" && pwd)
library=$here/../../libcollsock
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
# What is built already is not built again.
cp -a "$here/../../build/lib" "$work/build" 2>/dev/null
prefix=/opt/collsock
number=0
failed=0

# check NAME COMMAND...: one test; the output of the command is shown if it fails.
check() {
	name=$1
	shift
	number=$((number + 1))
	if "$@" >"$work/log" 2>&1; then
		echo "ok $number $name"
	else
		sed 's/^/# /' "$work/log"
		echo "not ok $number $name"
		failed=1
	fi
}

# check_with TOOL NAME COMMAND...: a test that needs a tool that few have.
check_with() {
	if command -v "$1" >/dev/null; then
		shift
		check "$@"
	else
		number=$((number + 1))
		echo "ok $number $2 # SKIP no $1"
	fi
}

make_library() {
	make -C "$library" OUTPUT="$work/build" DESTDIR="$root" PREFIX="$prefix" \
		LIBDIR="$prefix/lib/multi" "$@"
}

package() {
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root$prefix/lib/multi/pkgconfig \
		pkg-config "$@" collsock
}

all_parts_are_there() {
	for file in lib/multi/libcollsock.so lib/multi/libcollsock.so.1 lib/multi/libcollsock.a \
		lib/multi/pkgconfig/collsock.pc include/collsock.h include/collsock_mpi.h \
		include/linux/collsock.h include/linux/collsock_lists.h \
		share/man/man3/libcollsock.3 share/man/man7/collsock.7 share/man/man7/collsock_errors.7 \
		share/doc/libcollsock-dev/examples/collsock_plain.py; do
		[ -e "$root$prefix/$file" ] || { echo "no $file"; return 1; }
	done
}

soname_is_0_until_1_0() {
	readelf -d "$root$prefix/lib/multi/libcollsock.so" | grep -F '[libcollsock.so.1]'
}

# functions: those of the header, with their first word
functions() {
	grep -o '^[a-z_].*collsock_[a-z0-9_]*(' "$root$prefix/include/collsock.h"
}

exported_are_the_functions_of_the_header() {
	nm -D --defined-only "$root$prefix/lib/multi/libcollsock.so" | awk '$2 == "T" { print $3 }' |
		sed 's/@.*//' | sort >"$work/exported"
	functions | grep -v '^static inline' | grep -o 'collsock_[a-z0-9_]*(' | tr -d '(' |
		sort >"$work/declared"
	diff "$work/declared" "$work/exported"
}

every_function_has_a_manual_page() {
	functions | grep -o 'collsock_[a-z0-9_]*(' | tr -d '(' | while read -r function; do
		[ -e "$root$prefix/share/man/man3/$function.3" ] ||
			{ echo "no $function.3"; return 1; }
	done
}

links_of_manual_pages_lead_somewhere() {
	for page in "$root$prefix"/share/man/man3/*; do
		target=$(sed -n 's/^\.so //p' "$page")
		[ -z "$target" ] || [ -e "$root$prefix/share/man/$target" ] ||
			{ echo "$page leads to $target"; return 1; }
	done
}

manual_pages_have_no_warnings() {
	for page in "$root$prefix"/share/man/man[37]/*; do
		warnings=$(cd "$root$prefix/share/man" && groff -t -man -Tutf8 -ww -rF0 -z "$page" 2>&1)
		[ -z "$warnings" ] || { echo "$warnings"; return 1; }
	done
	! command -v mandoc >/dev/null || make_library lint
}

program() {
	cat >"$work/program.c" <<-PROGRAM
	#include <stdio.h>
	#include <collsock.h>
	int main(void)
	{
		static struct collsock_stats stats;
		char text[512];

		puts(collsock_strerror(-11, COLLSOCK_NO_RANK, text, sizeof(text)));
		return collsock_family() == 0 || stats.size;
	}
	PROGRAM
}

program_runs() {
	program
	# The flags are words.
	# shellcheck disable=SC2046
	$1 "$work/program.c" -Wall -Wextra -pedantic -Werror $(package --cflags --libs) \
		-o "$work/program" && LD_LIBRARY_PATH=$root$prefix/lib/multi "$work/program"
}

program_runs_static() {
	program
	# shellcheck disable=SC2046
	gcc "$work/program.c" $(package --cflags) "$root$prefix/lib/multi/libcollsock.a" \
		-o "$work/program" && "$work/program"
}

example_builds() {
	examples=$root$prefix/share/doc/libcollsock-dev/examples
	# shellcheck disable=SC2046
	gcc -D_GNU_SOURCE "$examples/barrier.c" "$examples/common.c" $(package --cflags --libs) \
		-o "$work/example" &&
		LD_LIBRARY_PATH=$root$prefix/lib/multi "$work/example" --help
}

# Threads of OpenMP; the sums need a barrier after each round.
example_of_a_team_adds_up() {
	# shellcheck disable=SC2046
	gcc -fopenmp "$root$prefix/share/doc/libcollsock-dev/examples/team.c" \
		$(package --cflags --libs) -o "$work/team" || return
	for algorithm in 0 1 2 3; do
		for threads in 1 2 7 16; do
			LD_LIBRARY_PATH=$root$prefix/lib/multi "$work/team" "$threads" "$algorithm" \
				>"$work/sums" && seq "$threads" | awk '{ s += $1; print "1 to " $1 ": " s }' |
				diff - "$work/sums" || return
		done
	done
}

family_is_that_of_the_header() {
	seen=$(package --variable=family)
	wanted=$(sed -n 's/^#define AF_COLLSOCK[[:space:]]*//p' \
		"$root$prefix/include/linux/collsock.h")
	[ "$seen" = "$wanted" ] || { echo "$seen, not $wanted"; return 1; }
}

nothing_stays() {
	make_library uninstall || return 1
	left=$(find "$root" ! -type d)
	[ -z "$left" ] || { echo "left: $left"; return 1; }
}

# The examples of a manual page, as they are rendered: until something is indented less.
examples_of_manual_page_compile() {
	groff -t -man -Tascii -rLL=200n "$root$prefix/share/man/man3/libcollsock.3" 2>/dev/null |
		sed 's/\x1b\[[0-9;]*m//g; s/.\x08//g' |
		awk -v name="$work/page" '
			{ indent = match($0, /[^ ]/) }
			!begin && /^ *#include <stdio.h>/ { begin = indent; count++ }
			indent && indent < begin { begin = 0 }
			begin { print >(name count ".c") }'
	[ -s "$work/page2.c" ] || { echo "fewer than two examples found"; return 1; }
	# shellcheck disable=SC2046
	gcc -Wall -Wextra -Werror -fsyntax-only "$work"/page[12].c $(package --cflags)
}

plan=15
echo "TAP version 13"
echo "1..$plan"
check installs make_library install
check all_parts_are_there all_parts_are_there
check soname_is_0_until_1_0 soname_is_0_until_1_0
check exported_are_the_functions_of_the_header exported_are_the_functions_of_the_header
check every_function_has_a_manual_page every_function_has_a_manual_page
check links_of_manual_pages_lead_somewhere links_of_manual_pages_lead_somewhere
check_with groff manual_pages_have_no_warnings manual_pages_have_no_warnings
check program_in_c_runs program_runs gcc
check_with g++ program_in_cplusplus_runs program_runs "g++ -x c++"
check program_runs_with_the_static_library program_runs_static
check family_is_that_of_the_header family_is_that_of_the_header
check example_builds_from_what_is_installed example_builds
check example_of_a_team_adds_up example_of_a_team_adds_up
check_with groff examples_of_manual_page_compile examples_of_manual_page_compile
check uninstall_leaves_nothing nothing_stays
[ "$number" -eq "$plan" ] || failed=1
exit "$failed"
