// The unary call on gRPC C++: asynchronous, one completion queue, one thread, mutual TLS.
//
//     grpc-server CERTIFICATE KEY ANCHORS
//
// Prints its port and serves until it is killed.
#include "common.h"
#include "echo.grpc.pb.h"

#include <grpcpp/grpcpp.h>
#include <memory>

using boxoffice::peers::v1::EchoMessage;
using boxoffice::peers::v1::Peer;

namespace {

/// One call from its arrival to its end; a new one waits in its place as soon as it has arrived.
class Call {
public:
    Call(Peer::AsyncService &service, grpc::ServerCompletionQueue &queue)
        : service_(service), queue_(queue), responder_(&context_)
    {
        service_.RequestEcho(&context_, &request_, &responder_, &queue_, &queue_, this);
    }

    void proceed(bool ok)
    {
        if (answered_ || !ok) {
            delete this;
            return;
        }
        new Call(service_, queue_);
        answered_ = true;
        response_.set_content(request_.content());
        responder_.Finish(response_, grpc::Status::OK, this);
    }

private:
    Peer::AsyncService &service_;
    grpc::ServerCompletionQueue &queue_;
    grpc::ServerContext context_;
    EchoMessage request_, response_;
    grpc::ServerAsyncResponseWriter<EchoMessage> responder_;
    bool answered_ = false;
};

} // namespace

int main(int count, char **arguments)
{
    if (count != 4) {
        std::cerr << "grpc-server CERTIFICATE KEY ANCHORS\n";
        return 2;
    }
    grpc::SslServerCredentialsOptions tls(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    tls.pem_key_cert_pairs.push_back({contents(arguments[2]), contents(arguments[1])});
    tls.pem_root_certs = contents(arguments[3]);
    Peer::AsyncService service;
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(tls), &port);
    builder.RegisterService(&service);
    std::unique_ptr<grpc::ServerCompletionQueue> queue = builder.AddCompletionQueue();
    std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    if (server == nullptr || port == 0) {
        std::cerr << "grpc-server: cannot listen\n";
        return 1;
    }
    std::cout << port << std::endl;
    // Several may arrive before the first is taken from the queue.
    for (int i = 0; i < 128; i++)
        new Call(service, *queue);
    void *tag;
    bool ok;
    while (queue->Next(&tag, &ok))
        static_cast<Call *>(tag)->proceed(ok);
}
