internal import Octets
internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Sends requests by `URLSession`, on Apple platforms and on Linux.
public final class URLSessionTransport: HTTPTransport {
    /// The largest answer that is accepted, in bytes.
    public static let bodyLimit = 4 * 1024 * 1024
    private let session: URLSession

    /// Keeps no cookies and caches nothing.
    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration, delegate: StayingDelegate(), delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var message = URLRequest(url: request.url)
        message.httpMethod = request.method.rawValue
        message.httpBody = request.body
        message.timeoutInterval = request.timeout / .seconds(1)
        for header in request.headers { message.addValue(header.value, forHTTPHeaderField: header.name) }
        do {
            let (body, answer) = try await session.data(for: message)
            guard let answer = answer as? HTTPURLResponse else { throw TransportFailure(.unreachable, "the answer is not HTTP") }
            guard body.count <= Self.bodyLimit else { throw TransportFailure(.unreachable, "the answer is larger than \(Self.bodyLimit) bytes") }
            let headers = answer.allHeaderFields.map { HTTPHeader("\($0.key)", "\($0.value)") }
            return HTTPResponse(status: answer.statusCode, headers: headers, body: body)
        } catch let error as URLError {
            if error.code == .cancelled { throw CancellationError() }
            throw TransportFailure(Self.insecure.contains(error.code) ? .insecure : .unreachable, "URLError \(error.code.rawValue)")
        }
    }

    private static let insecure: Set<URLError.Code> = [
        .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
        .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection,
    ]
}

/// Leaves redirects to the caller.
private final class StayingDelegate: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
