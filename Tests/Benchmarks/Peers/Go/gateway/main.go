// HTTP to gRPC with grpc-gateway; the service is asked over TLS.
//
//	go-gateway PORT NAME ANCHORS
//
// Prints its port and serves until it is killed.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/grpc-ecosystem/grpc-gateway/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"peer"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("go-gateway PORT NAME ANCHORS")
	}
	tls, err := credentials.NewClientTLSFromFile(os.Args[3], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	mux := runtime.NewServeMux()
	options := []grpc.DialOption{grpc.WithTransportCredentials(tls)}
	if err := peer.RegisterPeerHandlerFromEndpoint(context.Background(), mux, "127.0.0.1:"+os.Args[1], options); err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, mux))
}
