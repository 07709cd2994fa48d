// SPDX-License-Identifier: GPL-2.0

// Read a collective socket until its end, with the poller of Go's runtime.
//
//	reader-go DESCRIPTOR
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
)

const cookieGroup = 0xffffffffffffffff

func main() {
	fd, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	// Only a descriptor that does not block is given to the poller.
	if err := syscall.SetNonblock(fd, true); err != nil {
		panic(err)
	}
	socket := os.NewFile(uintptr(fd), "collsock")
	data := make([]byte, 4096)
	fmt.Println("ready")
	for wakeups := 1; ; wakeups++ {
		n, err := socket.Read(data)
		if err == io.EOF {
			fmt.Printf("end 0\nwakeups %d\n", wakeups)
			return
		}
		if err != nil {
			panic(err)
		}
		// All processors that Go and we run on here are little-endian.
		words := binary.LittleEndian
		group := 0
		if words.Uint64(data[16:n]) == cookieGroup {
			group = 1
		}
		fmt.Printf("error %d rank %d group %d\n", words.Uint32(data[4:n]),
			words.Uint32(data[8:n]), group)
	}
}
