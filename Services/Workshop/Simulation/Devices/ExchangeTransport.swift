internal import AsyncHTTPClient
internal import CommandKit
internal import EntitlementClient
internal import Foundation
internal import NIOCore
internal import NIOSSL

/// Carries the client library's requests by the command line's own client, which knows the detours of containers.
struct ExchangeTransport: HTTPTransport {
    let exchange: HTTPExchange

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let headers = request.headers.map { ($0.name, $0.value) } + [("User-Agent", "boxoffice-device")]
        do {
            let answer = try await exchange.exchange(
                request.method.rawValue, request.url.absoluteString, headers: headers, body: request.body.map { ByteBuffer(bytes: $0) },
                timeout: TimeAmount(request.timeout))
            return HTTPResponse(status: answer.status, headers: answer.headers.map { HTTPHeader($0.name, $0.value) }, body: Data(answer.body))
        } catch {
            if Task.isCancelled || error is CancellationError || error as? HTTPClientError == .cancelled { throw CancellationError() }
            throw TransportFailure(error is NIOSSLError || error is NIOSSLExtraError ? .insecure : .unreachable, PlainReason.of(error))
        }
    }
}
