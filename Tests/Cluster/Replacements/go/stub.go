// A service to begin with: it speaks the wire for config, authentication, authorization or autosignin, tells that it is healthy, and answers `unimplemented` to every
// method of its own until `offer` names a function for it. Numbers with § are sections of Shared/Documents/Wire.md.
// `build` beside this file makes the program with Debian's packages. `boxoffice conformance SERVICE --level minimal` finds nothing to complain of. What the wire demands
// beyond that is in ../python/config.py: limits, pings and ends of its own, reflection, and what to do with peers that break rules.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"time"

	_ "boxoffice/authentication/v1"
	_ "boxoffice/authorization/v1"
	_ "boxoffice/autosignin/v1"
	_ "boxoffice/config/v1" // for their names in the registry
	platform "boxoffice/platform/v1"
	wire "boxoffice/wire/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

const frameLimit = 4 << 20

// Who may call a service (Replacing.md §1); the operator may call all of them, and Reflection and Diagnostics alone.
var operators = map[string]bool{"operator.boxoffice": true}
var callersOf = map[string]map[string]bool{
	"config":         {"operator.boxoffice": true, "authentication.boxoffice": true, "authorization.boxoffice": true, "autosignin.boxoffice": true, "gateway.boxoffice": true},
	"authentication": {"operator.boxoffice": true, "authorization.boxoffice": true, "autosignin.boxoffice": true, "gateway.boxoffice": true},
	"authorization":  {"operator.boxoffice": true, "gateway.boxoffice": true},
	"autosignin":     {"operator.boxoffice": true, "gateway.boxoffice": true},
}

// A fault is what a call is answered with in place of a message (§7).
type fault struct {
	code, message string
	retryable     bool
}

func (f fault) Error() string { return f.code }

// A handler works on one call. It returns the answer, or sends the items of a stream and returns nil. An error that is no fault becomes `internal`.
type handler func(ctx context.Context, request proto.Message, item func(proto.Message)) (proto.Message, error)

type method struct {
	request protoreflect.MessageType
	streams bool
	callers map[string]bool
	work    handler // nil: not written yet
}

type service struct {
	methods map[string]*method
	names   []string
}

func newService(name string) *service {
	s := &service{methods: map[string]*method{}}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if own := file.Package(); own != protoreflect.FullName("boxoffice."+name+".v1") && own != "boxoffice.platform.v1" {
			return true
		}
		for i := 0; i < file.Services().Len(); i++ {
			offered, callers := file.Services().Get(i), callersOf[name]
			if offered.Name() == "Reflection" || offered.Name() == "Diagnostics" {
				callers = operators
			}
			s.names = append(s.names, string(offered.FullName()))
			for j := 0; j < offered.Methods().Len(); j++ {
				m := offered.Methods().Get(j)
				request, _ := protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName())
				s.methods[string(offered.FullName())+"/"+string(m.Name())] = &method{request: request, streams: m.IsStreamingServer(), callers: callers}
			}
		}
		return true
	})
	s.offer("boxoffice.platform.v1.Health/Check", health)
	s.offer("boxoffice.platform.v1.Health/Watch", watchHealth)
	s.offer("boxoffice.platform.v1.Reflection/ListServices", func(context.Context, proto.Message, func(proto.Message)) (proto.Message, error) {
		return &platform.ListServicesResponse{Services: s.names}, nil
	})
	s.offer("boxoffice.platform.v1.Diagnostics/Echo", echo)
	// Yours: s.offer("boxoffice.authorization.v1.Authorization/GetAuthorization", getAuthorization)
	return s
}

func (s *service) offer(name string, work handler) { s.methods[name].work = work }

// Answer NOT_SERVING with a reason while the service cannot work, for example without a catalogue.
func health(context.Context, proto.Message, func(proto.Message)) (proto.Message, error) {
	return &platform.HealthReport{Status: platform.ServingStatus_SERVING_STATUS_SERVING, SoftwareVersion: "0"}, nil
}

func watchHealth(ctx context.Context, request proto.Message, item func(proto.Message)) (proto.Message, error) {
	now, _ := health(ctx, request, item)
	item(now)
	<-ctx.Done() // a service that changes sends an item for each change
	return nil, ctx.Err()
}

func echo(ctx context.Context, request proto.Message, _ func(proto.Message)) (proto.Message, error) {
	message := request.(*platform.EchoMessage)
	select {
	case <-time.After(time.Duration(message.DelayMs) * time.Millisecond):
	case <-ctx.Done():
	}
	return &platform.EchoMessage{Content: message.Content}, ctx.Err()
}

// A connection is one caller: one goroutine reads its frames, and each call has its own.
type connection struct {
	service *service
	stream  *tls.Conn
	names   []string
	greeted bool
	last    uint64
	mutex   sync.Mutex // of the calls, and of writing
	calls   map[uint64]context.CancelFunc
}

func (c *connection) send(frame *wire.Frame) {
	body, _ := proto.Marshal(frame) // fails for texts that are not UTF-8 alone
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.stream.SetWriteDeadline(time.Now().Add(10 * time.Second))
	c.stream.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
}

func (c *connection) run() {
	defer c.stream.Close()
	c.stream.SetDeadline(time.Now().Add(5 * time.Second))
	if c.stream.Handshake() != nil {
		return
	}
	c.stream.SetDeadline(time.Time{})
	c.names = c.stream.ConnectionState().PeerCertificates[0].DNSNames
	// The callee does not wait for the caller's hello (§3).
	c.send(&wire.Frame{Kind: &wire.Frame_Hello{Hello: &wire.Hello{ProtocolVersion: 1, Software: "stub.go", SoftwareVersion: "0", MaxFrameBytes: frameLimit, MaxCallsInFlight: 1024, Services: c.service.names}}})
	ctx, end := context.WithCancel(context.Background())
	defer end()
	for {
		var head [4]byte
		if _, err := io.ReadFull(c.stream, head[:]); err != nil {
			return
		}
		length, code, frame := binary.BigEndian.Uint32(head[:]), "protocol_error", &wire.Frame{}
		if length > frameLimit {
			code = "frame_too_large"
		} else if body := make([]byte, length); length > 0 {
			if _, err := io.ReadFull(c.stream, body); err != nil {
				return
			}
			if proto.Unmarshal(body, frame) == nil && c.take(ctx, frame) {
				continue
			}
		}
		c.send(&wire.Frame{Kind: &wire.Frame_GoAway{GoAway: &wire.GoAway{LastCallId: c.last, Code: code}}})
		return
	}
}

// take is false where the caller breaks a rule.
func (c *connection) take(ctx context.Context, frame *wire.Frame) bool {
	if !c.greeted {
		c.greeted = frame.GetHello().GetProtocolVersion() == 1 && frame.GetHello().GetMaxFrameBytes() >= 1024
		return c.greeted
	}
	switch kind := frame.Kind.(type) {
	case *wire.Frame_Request:
		request, limit := kind.Request, 100*365*24*time.Hour
		if request.CallId <= c.last {
			return false
		}
		c.last = request.CallId
		if request.TimeoutUs > 0 && request.TimeoutUs < uint64(limit.Microseconds()) {
			limit = time.Duration(request.TimeoutUs) * time.Microsecond
		}
		work, cancel := context.WithTimeout(ctx, limit)
		c.mutex.Lock()
		c.calls[request.CallId] = cancel
		c.mutex.Unlock()
		go c.answer(work, request)
	case *wire.Frame_Cancel:
		// What is cancelled is answered no more (§4).
		c.finish(kind.Cancel.CallId)
		return kind.Cancel.CallId <= c.last
	case *wire.Frame_Ping:
		c.send(&wire.Frame{Kind: &wire.Frame_Pong{Pong: &wire.Pong{Nonce: kind.Ping.Nonce}}})
	default:
		return frame.GetGoAway() != nil
	}
	return true
}

// finish is true where the call was still to be answered.
func (c *connection) finish(call uint64) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	cancel, known := c.calls[call]
	if known {
		delete(c.calls, call)
		cancel()
	}
	return known
}

func (c *connection) answer(ctx context.Context, request *wire.Request) {
	m := c.service.methods[request.Service+"/"+request.Method]
	payload, err := c.work(ctx, m, request)
	if !c.finish(request.CallId) {
		return
	}
	response := &wire.Response{CallId: request.CallId, Outcome: &wire.Response_Payload{Payload: payload}}
	if err != nil {
		response.Outcome = &wire.Response_Fault{Fault: told(err)}
	}
	frame := &wire.Frame{Kind: &wire.Frame_Response{Response: response}}
	if m != nil && m.streams {
		frame.Kind = &wire.Frame_StreamEnd{StreamEnd: &wire.StreamEnd{CallId: request.CallId, Fault: told(err)}}
	}
	c.send(frame)
}

// In this order (§4): is the method known, may the caller use it, is there time left, does the payload decode.
func (c *connection) work(ctx context.Context, m *method, request *wire.Request) ([]byte, error) {
	if m == nil {
		return nil, fault{code: "unimplemented", message: "The service or the method is not offered here."}
	}
	allowed := false
	for _, name := range c.names {
		allowed = allowed || m.callers[name]
	}
	if !allowed {
		return nil, fault{code: "permission_denied", message: "The caller may not use the service."}
	} else if m.work == nil {
		return nil, fault{code: "unimplemented", message: "The method is not written yet."}
	}
	message := m.request.New().Interface()
	if proto.Unmarshal(request.Payload, message) != nil {
		return nil, fault{code: "invalid_message", message: "The payload does not decode."}
	}
	answer, err := m.work(ctx, message, func(item proto.Message) {
		body, _ := proto.Marshal(item)
		c.send(&wire.Frame{Kind: &wire.Frame_StreamItem{StreamItem: &wire.StreamItem{CallId: request.CallId, Payload: body}}})
	})
	payload, _ := proto.Marshal(answer)
	return payload, err
}

// told is the fault that the caller gets; what went wrong inside is for the log alone.
func told(err error) *wire.WireFault {
	var own fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return &wire.WireFault{Code: own.code, Message: own.message, Retryable: own.retryable}
	case errors.Is(err, context.DeadlineExceeded):
		return &wire.WireFault{Code: "deadline_exceeded", Message: "The deadline is over.", Retryable: true}
	}
	log.Printf("call.failed: %v", err)
	return &wire.WireFault{Code: "internal"}
}

func main() {
	name := flag.String("service", "", "config, authentication, authorization or autosignin")
	address := flag.String("listen", "", "host:port")
	certificate, key := flag.String("certificate", "", "file, PEM"), flag.String("key", "", "file, PEM")
	trust := flag.String("trust", "", "file with the authority of the callers' certificates, PEM")
	flag.Parse()
	own, failure := tls.LoadX509KeyPair(*certificate, *key)
	authority, err := os.ReadFile(*trust)
	anchors := x509.NewCertPool()
	if callersOf[*name] == nil || failure != nil || err != nil || !anchors.AppendCertsFromPEM(authority) {
		log.Fatalf("stub: -service is '%s', the certificate: %v, the authority: %v; -help says what they are to be", *name, failure, err)
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: anchors, SessionTicketsDisabled: true}
	offered := newService(*name)
	listener, err := net.Listen("tcp", *address)
	if err == nil {
		log.Printf("service.ready at %s", *address)
	}
	for err == nil {
		var stream net.Conn
		if stream, err = listener.Accept(); err == nil {
			c := &connection{service: offered, stream: tls.Server(stream, settings), calls: map[uint64]context.CancelFunc{}}
			go c.run()
		}
	}
	log.Fatalf("stub: %v", err)
}
