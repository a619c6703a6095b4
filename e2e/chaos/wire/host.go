package main

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"syscall"
	"unsafe"
)

// Nearly the largest packet of IP: the kernels' work and this program's is by the packet.
const mtu = 65000

// A host is a network namespace with one device.
type host struct {
	name    string
	address netip.Addr
	netns   string
	tun     *os.File
	work    chan func()
}

func newHost(name string, address netip.Addr) (*host, error) {
	h := &host{name: name, address: address, work: make(chan func())}
	go onOwnThread(h.work)
	return h, h.do(h.setUp)
}

func (h *host) setUp() error {
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return fmt.Errorf("a network namespace: %w", err)
	}
	h.netns = fmt.Sprintf("/proc/%d/task/%d/ns/net", os.Getpid(), syscall.Gettid())
	device, err := syscall.Open("/dev/net/tun", syscall.O_RDWR|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("/dev/net/tun: %w", err)
	}
	request := newRequest("wire0")
	binary.NativeEndian.PutUint16(request[16:], syscall.IFF_TUN|syscall.IFF_NO_PI)
	if err := ioctl(device, syscall.TUNSETIFF, request); err != nil {
		return err
	}
	h.tun = os.NewFile(uintptr(device), "wire0")
	return h.configure()
}

func (h *host) configure() error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	address := func(device string, of netip.Addr) *request {
		r := newRequest(device)
		binary.NativeEndian.PutUint16(r[16:], syscall.AF_INET)
		ip := of.As4()
		copy(r[20:], ip[:])
		return r
	}
	number := func(device string, value uint32) *request {
		r := newRequest(device)
		binary.NativeEndian.PutUint32(r[16:], value)
		return r
	}
	up := func(device string) *request {
		r := newRequest(device)
		binary.NativeEndian.PutUint16(r[16:], syscall.IFF_UP|syscall.IFF_RUNNING)
		return r
	}
	steps := []struct {
		call    uintptr
		request *request
	}{
		{syscall.SIOCSIFFLAGS, up("lo")},
		{syscall.SIOCSIFADDR, address("wire0", h.address)},
		{syscall.SIOCSIFNETMASK, address("wire0", netip.AddrFrom4([4]byte{255, 255, 255, 0}))},
		{syscall.SIOCSIFMTU, number("wire0", mtu)},
		{syscall.SIOCSIFTXQLEN, number("wire0", 2000)},
		{syscall.SIOCSIFFLAGS, up("wire0")},
	}
	for _, step := range steps {
		if err := ioctl(socket, step.call, step.request); err != nil {
			return err
		}
	}
	return nil
}

// A request is C's struct ifreq: the name of a device in 16 bytes, then what the call wants.
type request [40]byte

func newRequest(device string) *request {
	r := new(request)
	copy(r[:15], device)
	return r
}

func ioctl(descriptor int, call uintptr, r *request) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(descriptor), call, uintptr(unsafe.Pointer(r))); errno != 0 {
		return fmt.Errorf("ioctl %#x: %w", call, errno)
	}
	return nil
}
