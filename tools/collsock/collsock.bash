# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion of collsock(8): commands, options, tunables, handles and ids of groups.

# Values of a key in the command's JSON. Each is a number or a plain word, so jq is not
# needed.
_collsock_values() {
	local key=$1
	shift
	collsock -j "$@" 2>/dev/null | grep -oE "\"$key\":\"?[a-z0-9_]+" | grep -oE '[a-z0-9_]+$'
}

# Find the command after any options, the number of words after it, and where the program of
# "run" begins. Bash makes --netns=NAME three words.
_collsock_command() {
	local i word
	command='' words_behind=0 netns=() program=0
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		[[ ${COMP_WORDS[i + 1]} == "=" ]] && i=$((i + 1))
		case $word in
		-n | --netns)
			i=$((i + 1))
			netns=(-n "${COMP_WORDS[i]}")
			;;
		-n?*) netns=(-n "${word#-n}") ;;
		--interval | --count | --local | --rank | --ranks | --rendezvous | --host | -H | --port | --network | --timeout | --op)
			i=$((i + 1))
			;;
		--)
			program=$((i + 1))
			[[ $command == run ]] && return
			;;
		-*) [[ ${COMP_WORDS[i]} == "=" ]] && i=$((i + 1)) ;;
		*)
			if [[ $command ]]; then
				words_behind=$((words_behind + 1))
				program=$i
				[[ $command == run ]] && return
			else
				command=$word
			fi
			;;
		esac
	done
	program=$COMP_CWORD
}

# A command of its own, with its own completion where bash-completion is there, else with files
_collsock_program() {
	local offset
	for offset in _comp_command_offset _command_offset; do
		if declare -F "$offset" >/dev/null; then
			"$offset" "$program"
			return
		fi
	done
	if ((program == COMP_CWORD)); then
		mapfile -t COMPREPLY < <(compgen -c -- "$current")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	fi
}

# Of the names that others have given, those that need no quotes: compgen -W executes what it finds
# in words, and a device may be called $(reboot).
_collsock_plain() {
	grep -xE '[A-Za-z0-9_][A-Za-z0-9_.-]*'
}

_collsock_namespaces() {
	ip netns list 2>/dev/null | cut -d' ' -f1 | _collsock_plain
}

_collsock_devices() {
	ip "${netns[@]}" -o link 2>/dev/null | cut -d: -f2 | cut -d@ -f1 | tr -d ' ' |
		_collsock_plain
}

_collsock_options() {
	local options="--json --pretty --statistics --netns --color --version --help"
	case $command in
	stat) options+=" --prometheus" ;;
	monitor) options+=" --timestamp" ;;
	wait) options+=" --interval --count --last" ;;
	run) options="--local --rank --ranks --rendezvous --host --port --network" ;;
	barrier) options="--rank --ranks --rendezvous --host --port --network --timeout" ;;
	allreduce) options="--rank --ranks --rendezvous --host --port --network --timeout --op" ;;
	esac
	echo "$options"
}

_collsock() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local command words_behind netns program choices=

	_collsock_command
	if [[ $command == run ]] && { ((program < COMP_CWORD)) || [[ $previous == -- ]]; }; then
		_collsock_program
		return
	fi
	[[ $current == "=" ]] && current=
	[[ $previous == "=" ]] && previous=${COMP_WORDS[COMP_CWORD - 2]}
	if [[ $current == -n?* ]]; then
		mapfile -t COMPREPLY < <(compgen -P -n -W "$(_collsock_namespaces)" -- "${current#-n}")
		return
	fi
	case $previous in
	-n | --netns)
		mapfile -t COMPREPLY < <(compgen -W "$(_collsock_namespaces)" -- "$current")
		return
		;;
	--color)
		if [[ ${COMP_WORDS[COMP_CWORD]} == "=" || ${COMP_WORDS[COMP_CWORD - 1]} == "=" ]]; then
			mapfile -t COMPREPLY < <(compgen -W "always auto never" -- "$current")
			return
		fi
		;;
	--interval | --count | --local | --rank | --ranks | --port | --network | --timeout) return ;;
	--op)
		mapfile -t COMPREPLY < <(compgen -W "sum min max product" -- "$current")
		return
		;;
	--rendezvous | --host | -H)
		mapfile -t COMPREPLY < <(compgen -A hostname -- "$current")
		return
		;;
	id)
		choices=$(_collsock_values id "${netns[@]}" group)
		mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
		return
		;;
	esac

	if [[ $current == -* ]]; then
		choices=$(_collsock_options)
	elif [[ ! $command ]]; then
		choices="group host rank peer op user device stat get set monitor end wait doctor keygen run barrier allreduce"
	else
		case $command in
		group | host | rank | peer | op | end | wait)
			choices=$(_collsock_values handle "${netns[@]}" group)
			[[ $previous == group && $words_behind -gt 0 ]] || choices+=" id"
			[[ $command == group || $words_behind -gt 0 ]] || choices+=" group"
			;;
		get) choices=$(_collsock_values name "${netns[@]}" get) ;;
		set)
			if ((words_behind % 2)); then
				choices=default
			else
				choices=$(_collsock_values name "${netns[@]}" get)
			fi
			;;
		device)
			if ((words_behind)); then
				choices="allow deny"
			else
				choices=$(_collsock_devices)
			fi
			;;
		doctor) mapfile -t COMPREPLY < <(compgen -A hostname -- "$current") ;;
		keygen) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
		run) _collsock_program ;;
		esac
	fi
	[[ $command =~ ^(doctor|keygen|run)$ && $current != -* ]] ||
		mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
}

complete -F _collsock collsock
