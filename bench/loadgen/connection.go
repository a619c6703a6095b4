package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	ourWindow    = 1 << 30
	ourFrameMax  = 1 << 20
	creditAfter  = 1 << 26
	bufferBytes  = 1 << 18
	prefixBytes  = 5
	dialMax      = 10 * time.Second
	messageMax   = 1 << 31
	spareStreams = 4096
)

// receiver hears what comes on a stream, on the goroutine that reads the connection.
type receiver interface {
	// message is called for each whole message; the bytes are the connection's again afterwards.
	message(message []byte)
	// end is called once, with the gRPC status or what took its place.
	end(status string)
}

// stream is one gRPC call.
type stream struct {
	id       uint32
	to       receiver
	window   int64  // what the server lets this stream send
	unsent   []byte // what the windows held back, framed
	last     bool   // whether the client's side ends with it
	partial  []byte // the beginning of a message that has not come whole
	needs    int    // bytes of that message with its prefix; 0 before the prefix is there
	received int64  // bytes that the server has not got back as this stream's window
	finished bool
}

// connection is one HTTP/2 connection with as much of the protocol as a client of gRPC needs. One goroutine reads it;
// any may send, under the lock. What is sent stays in the buffer until flush: the reader flushes when it has read all
// there was, so that under load many requests share one write.
type connection struct {
	socket net.Conn
	reader *bufio.Reader
	framer *http2.Framer

	mu          sync.Mutex
	writer      *bufio.Writer
	headers     headerBlocks
	streams     map[uint32]*stream
	spare       []*stream
	blocked     []*stream // streams with unsent bytes, in the order in which they go on
	nextID      uint32
	window      int64 // what the server lets the whole connection send
	firstWindow int64 // and each new stream
	frameMax    int
	framed      []byte

	// The reader's own.
	decoder  *hpack.Decoder
	status   string
	received int64 // bytes that the server has not got back as window
}

func dial(target string) (*connection, error) {
	socket, err := net.DialTimeout("tcp", target, dialMax)
	if err != nil {
		return nil, err
	}
	c := &connection{
		socket: socket, reader: bufio.NewReaderSize(socket, bufferBytes), writer: bufio.NewWriterSize(socket, bufferBytes),
		streams: map[uint32]*stream{}, nextID: 1, window: 65535, firstWindow: 65535, frameMax: 16384,
	}
	c.headers = newHeaderBlocks(target)
	c.framer = http2.NewFramer(c.writer, c.reader)
	c.framer.SetMaxReadFrameSize(1 << 24)
	c.framer.SetReuseFrames()
	c.decoder = hpack.NewDecoder(4096, func(field hpack.HeaderField) {
		if field.Name == "grpc-status" {
			c.status = field.Value
		}
	})
	c.writer.WriteString(http2.ClientPreface)
	c.framer.WriteSettings(
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: ourWindow},
		http2.Setting{ID: http2.SettingMaxFrameSize, Val: ourFrameMax},
		http2.Setting{ID: http2.SettingEnablePush, Val: 0})
	c.framer.WriteWindowUpdate(0, ourWindow)
	if err := c.flush(); err != nil {
		return nil, err
	}
	// The server's settings hold from the first request on.
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return nil, err
		}
		if err := c.control(frame); err != nil {
			return nil, err
		}
		if settings, is := frame.(*http2.SettingsFrame); is && !settings.IsAck() {
			return c, c.flush()
		}
	}
}

func (c *connection) close() { c.socket.Close() }

func (c *connection) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writer.Flush()
}

// open starts a call with its first message; with `last` the client sends no other. The bytes are the caller's again.
func (c *connection) open(path string, to receiver, message []byte, last bool) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.newStream(to)
	c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: c.headers.of(path), EndHeaders: true})
	c.write(s, message, last)
	return s
}

// send adds a message to a stream that open left open.
func (c *connection) send(s *stream, message []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write(s, message, false)
}

func (c *connection) newStream(to receiver) *stream {
	var s *stream
	if spare := len(c.spare); spare > 0 {
		s, c.spare = c.spare[spare-1], c.spare[:spare-1]
		*s = stream{partial: s.partial[:0], unsent: s.unsent[:0]}
	} else {
		s = &stream{}
	}
	s.id, s.to, s.window = c.nextID, to, c.firstWindow
	c.nextID += 2
	c.streams[s.id] = s
	return s
}

func (c *connection) write(s *stream, message []byte, last bool) {
	s.last = last
	size := int64(prefixBytes + len(message))
	if len(s.unsent) == 0 && size <= min(c.window, s.window, int64(c.frameMax)) {
		c.framed = append(frameOf(c.framed[:0], len(message)), message...)
		c.window -= size
		s.window -= size
		c.framer.WriteData(s.id, last, c.framed)
		return
	}
	if len(s.unsent) == 0 {
		c.blocked = append(c.blocked, s)
	}
	s.unsent = append(frameOf(s.unsent, len(message)), message...)
	c.resume()
}

func frameOf(to []byte, size int) []byte {
	return binary.BigEndian.AppendUint32(append(to, 0), uint32(size))
}

// resume sends what the windows held back, as far as they let it now.
func (c *connection) resume() {
	waiting := c.blocked[:0]
	for _, s := range c.blocked {
		for len(s.unsent) > 0 && !s.finished {
			size := min(int64(len(s.unsent)), c.window, s.window, int64(c.frameMax))
			if size <= 0 {
				break
			}
			c.window -= size
			s.window -= size
			c.framer.WriteData(s.id, s.last && size == int64(len(s.unsent)), s.unsent[:size])
			s.unsent = s.unsent[size:]
		}
		if len(s.unsent) > 0 && !s.finished {
			waiting = append(waiting, s)
		}
	}
	c.blocked = waiting
}

// read serves the connection while `active` says so, and until it fails.
func (c *connection) read(active func() bool) error {
	for active() {
		if c.reader.Buffered() == 0 {
			if err := c.flush(); err != nil {
				return err
			}
		}
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return err
		}
		switch frame := frame.(type) {
		case *http2.DataFrame:
			err = c.data(frame)
		case *http2.HeadersFrame:
			err = c.answered(frame)
		case *http2.RSTStreamFrame:
			// After the trailers it only says that the server needs no more of the request.
			if s := c.stream(frame.StreamID); s != nil {
				c.finish(s, "reset: "+frame.ErrCode.String())
			}
		default:
			err = c.control(frame)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *connection) stream(id uint32) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.streams[id]
}

func (c *connection) finish(s *stream, status string) {
	to := s.to
	c.mu.Lock()
	delete(c.streams, s.id)
	s.finished, s.to = true, nil
	// One that is still in the list of blocked ones must not be another call's.
	if len(c.spare) < spareStreams && len(s.unsent) == 0 {
		c.spare = append(c.spare, s)
	}
	c.mu.Unlock()
	to.end(status)
}

func (c *connection) answered(frame *http2.HeadersFrame) error {
	if !frame.HeadersEnded() {
		return errors.New("headers in more than one frame")
	}
	c.status = ""
	if _, err := c.decoder.Write(frame.HeaderBlockFragment()); err != nil {
		return err
	}
	if s := c.stream(frame.StreamID); s != nil && frame.StreamEnded() {
		c.finish(s, c.status)
	}
	return nil
}

func (c *connection) data(frame *http2.DataFrame) error {
	if c.received += int64(frame.Length); c.received >= creditAfter {
		c.mu.Lock()
		c.framer.WriteWindowUpdate(0, uint32(c.received))
		c.mu.Unlock()
		c.received = 0
	}
	s := c.stream(frame.StreamID)
	if s == nil {
		return nil
	}
	// Only streams that live long and answers beyond any sane size come here.
	if s.received += int64(frame.Length); s.received >= creditAfter {
		c.mu.Lock()
		c.framer.WriteWindowUpdate(s.id, uint32(s.received))
		c.mu.Unlock()
		s.received = 0
	}
	rest := frame.Data()
	for len(rest) > 0 {
		// A message that comes whole, as nearly all do, is not copied.
		if len(s.partial) == 0 && len(rest) >= prefixBytes {
			size := prefixBytes + int(binary.BigEndian.Uint32(rest[1:]))
			if len(rest) >= size {
				s.to.message(rest[prefixBytes:size])
				rest = rest[size:]
				continue
			}
		}
		if missing := prefixBytes - len(s.partial); missing > 0 {
			taken := min(missing, len(rest))
			s.partial, rest = append(s.partial, rest[:taken]...), rest[taken:]
			if len(s.partial) < prefixBytes {
				return nil
			}
		}
		if s.needs == 0 {
			s.needs = prefixBytes + int(binary.BigEndian.Uint32(s.partial[1:]))
			if s.needs > messageMax {
				return fmt.Errorf("a message of %d bytes", s.needs)
			}
			if cap(s.partial) < s.needs {
				s.partial = append(make([]byte, 0, s.needs), s.partial...)
			}
		}
		taken := min(s.needs-len(s.partial), len(rest))
		s.partial, rest = append(s.partial, rest[:taken]...), rest[taken:]
		if len(s.partial) == s.needs {
			message := s.partial[prefixBytes:]
			s.partial, s.needs = s.partial[:0], 0
			s.to.message(message)
		}
	}
	return nil
}

// control does what the frames ask for that belong to no call.
func (c *connection) control(frame http2.Frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch frame := frame.(type) {
	case *http2.SettingsFrame:
		if frame.IsAck() {
			return nil
		}
		frame.ForeachSetting(func(setting http2.Setting) error {
			switch setting.ID {
			case http2.SettingInitialWindowSize:
				change := int64(setting.Val) - c.firstWindow
				c.firstWindow += change
				for _, s := range c.streams {
					s.window += change
				}
			case http2.SettingMaxFrameSize:
				c.frameMax = int(setting.Val)
			}
			return nil
		})
		c.resume()
		return c.framer.WriteSettingsAck()
	case *http2.PingFrame:
		if !frame.IsAck() {
			return c.framer.WritePing(true, frame.Data)
		}
	case *http2.WindowUpdateFrame:
		if frame.StreamID == 0 {
			c.window += int64(frame.Increment)
		} else if s := c.streams[frame.StreamID]; s != nil {
			s.window += int64(frame.Increment)
		}
		if len(c.blocked) > 0 {
			c.resume()
		}
	case *http2.GoAwayFrame:
		return fmt.Errorf("the server ended the connection: %v %s", frame.ErrCode, frame.DebugData())
	}
	return nil
}

// headerBlocks keeps the encoded headers of each path. The dynamic table's indices count from its newest entry, so a
// block holds until another path adds one; after the first call of each path all of them are a few bytes, as they are
// with gRPC's own clients.
type headerBlocks struct {
	target  string
	encoder *hpack.Encoder
	buffer  *bytes.Buffer
	blocks  map[string]headerBlock
}

type headerBlock struct {
	bytes []byte
	paths int // how many paths the table knew
}

func newHeaderBlocks(target string) headerBlocks {
	buffer := &bytes.Buffer{}
	return headerBlocks{target: target, encoder: hpack.NewEncoder(buffer), buffer: buffer, blocks: map[string]headerBlock{}}
}

func (h *headerBlocks) of(path string) []byte {
	block, known := h.blocks[path]
	if known && block.paths == len(h.blocks) && block.bytes != nil {
		return block.bytes
	}
	h.buffer.Reset()
	for _, field := range [...]hpack.HeaderField{
		{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "http"}, {Name: ":path", Value: path},
		{Name: ":authority", Value: h.target}, {Name: "content-type", Value: "application/grpc"},
		{Name: "user-agent", Value: "engram-loadgen"}, {Name: "te", Value: "trailers"},
	} {
		h.encoder.WriteField(field)
	}
	if *token != "" {
		h.encoder.WriteField(hpack.HeaderField{Name: "token", Value: *token})
	}
	encoded := append([]byte(nil), h.buffer.Bytes()...)
	if known {
		h.blocks[path] = headerBlock{encoded, len(h.blocks)}
	} else {
		// This block adds entries: sent again, it would add them again.
		h.blocks[path] = headerBlock{}
	}
	return encoded
}
