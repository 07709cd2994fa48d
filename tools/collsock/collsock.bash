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

# Find the command after any options, and the number of words after it.
_collsock_command() {
	local i
	command='' words_behind=0 netns=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-n | --netns)
			i=$((i + 1))
			netns=(-n "${COMP_WORDS[i]}")
			;;
		--interval | --count | --local | --rank | --ranks | --rendezvous | --host | -H | --timeout | --op)
			i=$((i + 1))
			;;
		-*) ;;
		*)
			if [[ $command ]]; then
				words_behind=$((words_behind + 1))
			else
				command=${COMP_WORDS[i]}
			fi
			;;
		esac
	done
}

_collsock_options() {
	local options="--json --pretty --statistics --netns --color --version --help"
	case $command in
	stat) options+=" --prometheus" ;;
	monitor) options+=" --timestamp" ;;
	wait) options+=" --interval --count --last" ;;
	run) options="--local --rank --ranks --rendezvous --host" ;;
	barrier) options="--rank --ranks --rendezvous --host --timeout" ;;
	allreduce) options="--rank --ranks --rendezvous --host --timeout --op" ;;
	esac
	echo "$options"
}

_collsock() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local command words_behind netns choices=

	_collsock_command
	case $previous in
	-n | --netns)
		choices=$(ip netns list 2>/dev/null | cut -d' ' -f1)
		mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
		return
		;;
	--interval | --count | --local | --rank | --ranks | --timeout) return ;;
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
				choices=$(ip "${netns[@]}" -o link 2>/dev/null | cut -d: -f2 | cut -d@ -f1)
			fi
			;;
		doctor) mapfile -t COMPREPLY < <(compgen -A hostname -- "$current") ;;
		keygen) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
		run) mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
		esac
	fi
	[[ $command =~ ^(doctor|keygen|run)$ && $current != -* ]] ||
		mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
}

complete -F _collsock collsock
