// SPDX-License-Identifier: GPL-2.0-only
//
// Emits an event from Go without a library: registers it, tests the bit, writes. And says what
// the thread of a goroutine works on, for "elog why".
//
//	go build hello.go && elog capture -e hello -- ./hello
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

const (
	iocRegister     = 0xc004e701 // EVENTLOG_IOC_REGISTER; other on MIPS, PowerPC and SPARC
	registerSession = 1 << 1     // EVENTLOG_REGISTER_SESSION
	statusEnabled   = 1          // EVENTLOG_STATUS_ENABLED
	statusSession   = 1 << 5     // EVENTLOG_STATUS_SESSION
	writeSession    = 0xfffffffc // EVENTLOG_WRITE_SESSION
	fixedBytes      = 8          // the number, and a word that says where the text is
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
	device     *os.File
	index      uint32
	descriptor uint32
	status     []byte
	offset     uint32
	strict     bool // ELOG_STRICT=1: a wrong value is an error, recorded or not
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
		flags:    registerSession,
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
	return &greeting{device, event.writeIndex, event.descriptor, status, event.statusOffset,
		strict != "" && strict != "0"}, nil
}

// The calling goroutine works on a session until it calls the function that this returns. The
// kernel knows threads and not goroutines, so the goroutine keeps its thread meanwhile. Costs
// nothing unless someone asks. Old modules refuse the message.
func (event *greeting) enter(session uint64) (leave func()) {
	if event.status[event.offset]&statusSession == 0 {
		return func() {}
	}
	runtime.LockOSThread()
	event.works(event.descriptor, session)
	return func() {
		event.works(0, 0)
		runtime.UnlockOSThread()
	}
}

func (event *greeting) works(of uint32, session uint64) {
	message := make([]byte, 16)
	binary.LittleEndian.PutUint32(message, writeSession)
	binary.LittleEndian.PutUint32(message[4:], of)
	binary.LittleEndian.PutUint64(message[8:], session)
	event.device.Write(message)
}

// While the event is disabled, it costs only this test of a byte.
func (event *greeting) enabled() bool {
	return event.status[event.offset]&statusEnabled != 0
}

// The program must run in the same way whether it is recorded or not. So a text that is too
// long is no error, except with ELOG_STRICT=1; and neither is a failure to write, for
// example because the capture has just ended.
func (event *greeting) emit(session uint64, number uint32, text string) error {
	valid := fixedBytes+len(text)+1 <= 0xffff
	if !valid && event.strict {
		return fmt.Errorf("text: %d bytes are too many", len(text))
	}
	if !event.enabled() {
		return nil
	}
	// The index, the session, then the fields, in the machine's byte order. Without the
	// fields, the kernel counts the event as invalid.
	message := make([]byte, 12, 12+fixedBytes+len(text)+1)
	binary.LittleEndian.PutUint32(message, event.index)
	binary.LittleEndian.PutUint64(message[4:], session)
	if valid {
		message = message[:12+fixedBytes]
		binary.LittleEndian.PutUint32(message[12:], number)
		binary.LittleEndian.PutUint32(message[16:], uint32(len(text)+1)<<16|fixedBytes)
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
	session := uint64(os.Getpid())
	leave := event.enter(session)
	if err := event.emit(session, 42, text); err != nil {
		fail(err)
	}
	time.Sleep(time.Millisecond) // the work
	leave()
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "hello:", err)
	os.Exit(1)
}
