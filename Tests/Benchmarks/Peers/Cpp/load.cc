// The load on gRPC C++: keeps a number of unary calls in flight on one connection, with one completion queue and one thread.
//
//     grpc-load PORT NAME CERTIFICATE KEY ANCHORS PAYLOAD_BYTES IN_FLIGHT SECONDS
//
// Prints calls per second, p50 and p99 in microseconds, failed calls, all calls, its own CPU time per call in microseconds. Warms up for a fifth of
// the time.
#include "common.h"
#include "echo.grpc.pb.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <grpcpp/grpcpp.h>
#include <memory>
#include <sys/resource.h>
#include <vector>

using boxoffice::peers::v1::EchoMessage;
using boxoffice::peers::v1::Peer;
using Clock = std::chrono::steady_clock;

namespace {

struct Call {
    grpc::ClientContext context;
    EchoMessage response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<EchoMessage>> reader;
    Clock::time_point start;
};

void begin(Peer::Stub &stub, const EchoMessage &request, grpc::CompletionQueue &queue)
{
    Call *call = new Call;
    call->start = Clock::now();
    call->context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    call->reader = stub.AsyncEcho(&call->context, request, &queue);
    call->reader->Finish(&call->response, &call->status, call);
}

double cpu_microseconds()
{
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    return double(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 + double(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

} // namespace

int main(int count, char **arguments)
{
    if (count != 9) {
        std::cerr << "grpc-load PORT NAME CERTIFICATE KEY ANCHORS PAYLOAD_BYTES IN_FLIGHT SECONDS\n";
        return 2;
    }
    grpc::SslCredentialsOptions tls;
    tls.pem_cert_chain = contents(arguments[3]);
    tls.pem_private_key = contents(arguments[4]);
    tls.pem_root_certs = contents(arguments[5]);
    grpc::ChannelArguments settings;
    settings.SetSslTargetNameOverride(arguments[2]);
    auto channel = grpc::CreateCustomChannel(std::string("127.0.0.1:") + arguments[1], grpc::SslCredentials(tls), settings);
    if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10))) {
        std::cerr << "grpc-load: no connection\n";
        return 1;
    }
    auto stub = Peer::NewStub(channel);
    EchoMessage request;
    request.set_content(std::string(std::stoul(arguments[6]), '\0'));
    grpc::CompletionQueue queue;
    const int in_flight = std::stoi(arguments[7]);
    const std::chrono::duration<double> seconds(std::stod(arguments[8]));
    const auto start = Clock::now();
    const auto warm = start + std::chrono::duration_cast<Clock::duration>(seconds * 0.2);
    const auto end = warm + std::chrono::duration_cast<Clock::duration>(seconds);
    const double cpu = cpu_microseconds();
    for (int i = 0; i < in_flight; i++)
        begin(*stub, request, queue);
    std::vector<double> samples;
    uint64_t failed = 0, all = 0;
    void *tag;
    bool ok;
    auto now = start;
    while (now < end && queue.Next(&tag, &ok)) {
        std::unique_ptr<Call> call(static_cast<Call *>(tag));
        now = Clock::now();
        all++;
        if (!ok || !call->status.ok() || call->response.content().size() != request.content().size())
            failed++;
        else if (now >= warm)
            samples.push_back(std::chrono::duration<double, std::micro>(now - call->start).count());
        begin(*stub, request, queue);
    }
    if (samples.empty()) {
        std::cerr << "grpc-load: no answers\n";
        return 1;
    }
    std::sort(samples.begin(), samples.end());
    std::printf("%.1f %.1f %.1f %lu %lu %.3f\n", double(samples.size()) / std::chrono::duration<double>(now - warm).count(),
        samples[samples.size() / 2], samples[samples.size() * 99 / 100], static_cast<unsigned long>(failed), static_cast<unsigned long>(all),
        (cpu_microseconds() - cpu) / double(all));
    std::fflush(stdout);
    // Calls under way are of no more interest.
    std::_Exit(0);
}
