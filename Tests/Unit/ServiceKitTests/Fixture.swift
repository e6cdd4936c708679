import Clocks
import Cryptography
import Foundation
import Logging
import Synchronization
import Transport

@testable import ServiceKit

/// A folder with a throwaway PKI and a settings file; removed with the fixture.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-kit-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name)) }

    /// `ca.crt` and for each name `<name>.crt`, `<name>.key` with the DNS SAN `<name>.boxoffice`.
    func makePki(_ names: [String]) throws {
        let authority = try CertificateAuthority.create(name: "test authority")
        try write(try authority.certificate.pem(), to: "ca.crt")
        for name in names {
            let issued = try authority.issue(commonName: name, names: CertificateNames(dns: ["\(name).boxoffice"]))
            try write(try issued.certificate.pem(), to: "\(name).crt")
            try write(try issued.key.pem(), to: "\(name).key")
        }
    }

    func identity(_ name: String) throws -> TlsIdentity {
        try TlsIdentity(files: TlsFiles(certificate: "\(path)/\(name).crt", key: "\(path)/\(name).key", trustAnchors: "\(path)/ca.crt"))
    }
}

/// Log lines of a test.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func logger(_ service: String = "test", level: Logger.Level = .trace, clock: any WallClock = SystemClock()) -> Logger {
        let output = LogOutput { line, _ in self.lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
        return Logger(label: service, factory: { _ in JsonLogHandler(service: service, level: level, clock: clock, output: output) })
    }

    /// The value of a field in the first line of that event.
    func field(_ name: String, of event: String) -> String? { fields(name, of: event).first }

    /// The values of a field in the lines of that event.
    func fields(_ name: String, of event: String) -> [String] {
        all.compactMap { line in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["event"] as? String == event ? object?[name].map { "\($0)" } : nil
        }
    }
}

/// Asks a listener of this machine, whose answers are short; on a thread of its own, since the listener may need all others.
func ask(_ path: String, port: Int) async throws -> (status: Int, text: String) {
    try await FirstResult.ofThread { try blockingAnswer(path, port: port) }
}

private func blockingAnswer(_ path: String, port: Int) throws -> (status: Int, text: String) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let isOpen = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
    }
    guard isOpen else { throw NotInTime(what: "port \(port) is closed") }
    let request = Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8)
    guard write(descriptor, request, request.count) == request.count else { throw NotInTime(what: "a request is taken") }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { answer += buffer[..<count] }
    let text = String(decoding: answer, as: UTF8.self)
    let body = text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0, body)
}

struct NotInTime: Error { let what: String }

/// Waits for a condition, at most a minute.
func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now.advanced(by: .seconds(60))
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NotInTime(what: what) }
        await Task.yield()
    }
}
