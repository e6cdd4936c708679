import Clocks
import Cryptography
import Foundation
import PostgresServer
import PrivatePostgres
import Storage
import TestIdentities
import Testing

@testable import StoragePostgres

@Suite("Certificates of servers", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
struct CertificateTests {
    /// - Parameter validity: The validity of its certificate.
    private static func make(_ files: TestIdentities, _ validity: CertificateValidity) throws -> PostgresServer {
        try files.issue("server", names: ["localhost"], validity: validity)
        return try PostgresServer(settings: ["ssl = on", "ssl_cert_file = 'server.crt'", "ssl_key_file = 'server.key'"]) { server in
            for file in ["server.crt", "server.key"] { try server.write(String(contentsOfFile: files.path(file), encoding: .utf8), to: file) }
        }
    }

    @Test("one that has ended is read like any other, nobody signs in for it, and a start says that it expired")
    func expired() async throws {
        let now = Timestamp(milliseconds: WallTime.milliseconds)
        let validity = CertificateValidity(notBefore: now - .seconds(7200), notAfter: now - .seconds(3600))
        let files = try TestIdentities()
        let server = try await offThread { try Self.make(files, validity) }
        let host = PostgresOptions.Host(name: "localhost", port: UInt16(server.server.port))
        #expect(PostgresConnection.certificate(of: host)?.notAfter.seconds == validity.notAfter.seconds)
        #expect(PostgresConnection.certificate(of: .init(name: "localhost", port: UInt16(PostgresServer.freePort()))) == nil)
        var options = PostgresOptions(hosts: [host], database: "postgres", user: "postgres")
        options.tls = PostgresOptions.Tls(trustAnchors: files.path("ca.crt"))
        let error = #expect(throws: StoreError.self) { try Store.notes(options) }
        #expect(
            error?.description.contains("cannot be trusted (localhost:\(host.port): its certificate expired at ") == true,
            "\(error?.description ?? "-")")
        #expect(error?.description.contains("renew it") == true)
    }

    @Test("where no certificate is over, and where only one of several authorities is, the reason is another one")
    func verdicts() async throws {
        let files = try TestIdentities()
        let server = try await offThread { try Self.make(files, .days(1)) }
        let host = PostgresOptions.Host(name: "localhost", port: UInt16(server.server.port))
        let now = Timestamp(milliseconds: WallTime.milliseconds)
        let lapsed = try CertifiedKey.selfSigned(
            commonName: "former", validity: CertificateValidity(notBefore: now - .seconds(7200), notAfter: now - .seconds(3600))
        ).certificate.pem()
        try files.write(lapsed + String(contentsOfFile: files.path("ca.crt"), encoding: .utf8), "both.crt")
        try files.write(lapsed, "lapsed.crt")
        func verdict(_ anchors: String) -> String? { CertificateVerdict.of(host, PostgresOptions.Tls(trustAnchors: files.path(anchors))) }
        #expect(verdict("ca.crt") == nil && verdict("both.crt") == nil && verdict("absent.crt") == nil)
        #expect(verdict("lapsed.crt")?.hasPrefix("the authority in \(files.path("lapsed.crt")) expired at ") == true)
    }
}
