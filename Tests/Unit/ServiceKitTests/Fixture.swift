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
    func field(_ name: String, of event: String) -> String? {
        for line in all {
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            if object?["event"] as? String == event { return object?[name].map { "\($0)" } }
        }
        return nil
    }
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
