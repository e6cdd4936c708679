@testable import ClusterCommands
@testable import CommandKit
import Foundation
import TextEncodings

/// A connection to the gateway on which a request has begun.
final class OpenRequest {
    private let descriptor: Int32

    /// - Parameter text: The text that is sent; by default the beginning of a head.
    init(port: Int, text: String = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n") throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard status == 0 else {
            let reason = String(cString: strerror(errno))
            Glibc.close(descriptor)
            throw CommandFailure("cannot connect to port \(port): \(reason)")
        }
        send(text)
    }

    deinit { close(descriptor) }

    private func send(_ text: String) { _ = Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

    /// Ends the head and reads the answer, at most 15 s.
    func finish() throws -> String {
        send("\r\n")
        var patience = timeval(tv_sec: 15, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    /// Closes without reading.
    func abandon() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

extension Call {
    /// The request as HTTP/1.1 writes it.
    var wire: String {
        let body = body ?? ""
        let fields = headers.merging(["Host": "localhost", "Content-Length": String(body.utf8.count)]) { $1 }
        let parameters = FormEncoding.encode(query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        let target = path + (parameters.isEmpty ? "" : "?" + parameters)
        return "\(method) \(target) HTTP/1.1\r\n" + fields.map { "\($0): \($1)\r\n" }.joined() + "\r\n" + body
    }
}
