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
	fixedBytes    = 8          // the number, and a word that says where the text is
)

// struct eventlog_register of linux/eventlog.h
type register struct {
	size, flags                                 uint32
	command, provider, keywords                 uint64
	level, writeIndex, descriptor, statusOffset uint32
	mapOffset                                   uint64
	mapSize, reserved                           uint32
}

// A greeting is an event that is registered.
type greeting struct {
	device *os.File
	index  uint32
	status []byte
	offset uint32
	strict bool // ELOG_STRICT=1: a wrong value is an error, recorded or not
}

func open() (*greeting, error) {
	device, err := os.OpenFile("/dev/eventlog", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	// On the heap, where they do not move.
	command := append([]byte("go u32 number; __data_loc char[] text"), 0)
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
		return nil, errno
	}
	status, err := syscall.Mmap(int(device.Fd()), int64(event.mapOffset), int(event.mapSize),
		syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	strict := os.Getenv("ELOG_STRICT")
	return &greeting{device, event.writeIndex, status, event.statusOffset,
		strict != "" && strict != "0"}, nil
}

// While the event is disabled, it costs only this test of a byte.
func (event *greeting) enabled() bool {
	return event.status[event.offset]&statusEnabled != 0
}

// The program must run in the same way whether it is recorded or not. So a text that is too
// long is no error, except with ELOG_STRICT=1; and neither is a failure to write, for
// example because the capture has just ended.
func (event *greeting) emit(number uint32, text string) error {
	valid := fixedBytes+len(text)+1 <= 0xffff
	if !valid && event.strict {
		return fmt.Errorf("text: %d bytes are too many", len(text))
	}
	if !event.enabled() {
		return nil
	}
	// The index, then the fields, in the machine's byte order. Without the fields, the
	// kernel counts the event as invalid.
	message := make([]byte, 4, 4+fixedBytes+len(text)+1)
	binary.LittleEndian.PutUint32(message, event.index)
	if valid {
		message = message[:4+fixedBytes]
		binary.LittleEndian.PutUint32(message[4:], number)
		binary.LittleEndian.PutUint32(message[8:], uint32(len(text)+1)<<16|fixedBytes)
		message = append(append(message, text...), 0)
	}
	event.device.Write(message)
	return nil
}

func main() {
	text := "hello, world"
	if len(os.Args) > 1 {
		text = os.Args[1]
	}
	event, err := open()
	if err != nil {
		fail(err)
	}
	if !event.enabled() {
		fmt.Println("the event is disabled; try: elog capture -e hello -- ./hello")
	}
	if err := event.emit(42, text); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "hello:", err)
	os.Exit(1)
}
