// The service behind the gateway on grpc-go, over TLS.
//
//	go-server CERTIFICATE KEY
//
// Prints its port and serves until it is killed.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"peer"
)

type service struct{}

func (service) Echo(_ context.Context, message *peer.EchoMessage) (*peer.EchoMessage, error) {
	return message, nil
}

func (service) CheckSession(_ context.Context, question *peer.SessionQuestion) (*peer.SessionAnswer, error) {
	return &peer.SessionAnswer{Requestor: question.Requestor, Mvpd: "NorthCable", Expires: 1893456000000}, nil
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("go-server CERTIFICATE KEY")
	}
	tls, err := credentials.NewServerTLSFromFile(os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(grpc.Creds(tls))
	peer.RegisterPeerServer(server, service{})
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(server.Serve(listener))
}
