import Cryptography
import Foundation
import Testing

@testable import ServiceKit

@Suite("Keys that are made")
struct MadeKeyTests {
    @Test("the key of a settings file that names none is made once, by one of several starts, for its owner alone")
    func madeKeys() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "made-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "secrets.key").path
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try MadeKey.ensure(path)
                    return try String(contentsOfFile: path, encoding: .utf8)
                }
            }
            let seen = try await group.reduce(into: Set<String>()) { $0.insert($1) }
            #expect(seen.count == 1 && seen.first?.count == 65)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["secrets.key"])
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(throws: MadeKey.Failure.self) { try MadeKey.ensure(folder.path + "/absent/secrets.key") }
    }

    @Test("a key of RSA is one of 2048 bits")
    func madeRsaKey() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "made-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "service-token.key").path
        try MadeKey.ensure(path, .rsa)
        #expect(try RSAPrivateKey(pemFile: path).publicKey.bitCount == 2048)
    }

    @Test("a key that signs is one of P-256, and stays")
    func madeSigningKey() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "made-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "sdk-token.key").path
        try MadeKey.ensure(path, .signing)
        let first = try P256PrivateKey(pemFile: path).publicKey.pem()
        try MadeKey.ensure(path, .signing)
        #expect(try P256PrivateKey(pemFile: path).publicKey.pem() == first)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }
}
