// SPDX-License-Identifier: GPL-2.0-only
//
// Emits an event from Go without a library: registers it, tests the bit, writes.
//
//	go build hello.go && elog capture -e hello -- ./hello
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

const (
	iocRegister   = 0xc004e701 // EVENTLOG_IOC_REGISTER; other on MIPS, PowerPC and SPARC
	statusEnabled = 1          // EVENTLOG_STATUS_ENABLED
)

// struct eventlog_register of linux/eventlog.h
type register struct {
	size, flags                                 uint32
	command, provider, keywords                 uint64
	level, writeIndex, descriptor, statusOffset uint32
	mapOffset                                   uint64
	mapSize, reserved                           uint32
}

func main() {
	device, err := os.OpenFile("/dev/eventlog", os.O_RDWR, 0)
	if err != nil {
		fail(err)
	}
	// On the heap, where they do not move.
	command := append([]byte("go u32 number; char[16] text"), 0)
	provider := append([]byte("hello"), 0)
	event := &register{
		command:  uint64(uintptr(unsafe.Pointer(&command[0]))),
		provider: uint64(uintptr(unsafe.Pointer(&provider[0]))),
	}
	event.size = uint32(unsafe.Sizeof(*event))
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, device.Fd(), iocRegister,
		uintptr(unsafe.Pointer(event)))
	runtime.KeepAlive(command)
	runtime.KeepAlive(provider)
	if errno != 0 {
		fail(errno)
	}
	status, err := syscall.Mmap(int(device.Fd()), int64(event.mapOffset), int(event.mapSize),
		syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		fail(err)
	}
	// While the event is disabled, it costs only this test of a byte.
	if status[event.statusOffset]&statusEnabled == 0 {
		fmt.Println("the event is disabled; try: elog capture -e hello -- ./hello")
		return
	}
	payload := make([]byte, 4+4+16) // the index, then the fields, in the machine's byte order
	binary.LittleEndian.PutUint32(payload, event.writeIndex)
	binary.LittleEndian.PutUint32(payload[4:], 42)
	copy(payload[8:], "hello, world")
	if _, err := device.Write(payload); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "hello:", err)
	os.Exit(1)
}
