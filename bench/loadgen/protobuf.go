package main

import "encoding/binary"

// The few parts of protobuf that etcd's messages need. Written out because a generated client would cost more than the
// server that it measures.

const (
	varintType  = 0
	fixed64Type = 1
	bytesType   = 2
	fixed32Type = 5
)

func appendInt(to []byte, field int, value int64) []byte {
	to = binary.AppendUvarint(to, uint64(field)<<3|varintType)
	return binary.AppendUvarint(to, uint64(value))
}

func appendBytes(to []byte, field int, value []byte) []byte {
	to = appendHead(to, field, len(value))
	return append(to, value...)
}

// appendHead starts a field of `size` bytes that the caller appends next.
func appendHead(to []byte, field, size int) []byte {
	to = binary.AppendUvarint(to, uint64(field)<<3|bytesType)
	return binary.AppendUvarint(to, uint64(size))
}

// fields walks over a message's fields. `more` is false at the end and at the first byte that is no protobuf; `broken`
// tells these apart.
type fields struct {
	rest   []byte
	broken bool
	number int
	value  uint64
	bytes  []byte
}

func fieldsOf(message []byte) fields { return fields{rest: message} }

func (f *fields) more() bool {
	if len(f.rest) == 0 {
		return false
	}
	tag, ok := f.uvarint()
	if !ok {
		return false
	}
	f.number, f.value, f.bytes = int(tag>>3), 0, nil
	switch tag & 7 {
	case varintType:
		f.value, ok = f.uvarint()
		return ok
	case bytesType:
		size, ok := f.uvarint()
		return ok && f.take(size)
	case fixed64Type:
		return f.take(8)
	case fixed32Type:
		return f.take(4)
	}
	f.broken = true
	return false
}

func (f *fields) uvarint() (uint64, bool) {
	value, size := binary.Uvarint(f.rest)
	if size <= 0 {
		f.broken = true
		return 0, false
	}
	f.rest = f.rest[size:]
	return value, true
}

func (f *fields) take(size uint64) bool {
	if size > uint64(len(f.rest)) {
		f.broken = true
		return false
	}
	f.bytes, f.rest = f.rest[:size], f.rest[size:]
	return true
}

func intOf(message []byte, number int) int64 {
	for f := fieldsOf(message); f.more(); {
		if f.number == number {
			return int64(f.value)
		}
	}
	return 0
}

func bytesOf(message []byte, number int) []byte {
	for f := fieldsOf(message); f.more(); {
		if f.number == number {
			return f.bytes
		}
	}
	return nil
}
