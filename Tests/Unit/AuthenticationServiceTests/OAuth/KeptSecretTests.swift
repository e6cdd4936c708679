@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams
import Contracts
import Cryptography
import Doubles
import Faults
import Foundation
import ManualClocks
import Testing

/// Secrets that administrators write (clients §2).
@Suite struct KeptSecretTests {
    private static let reference = SecretReference("openfiber-2")

    private func secrets(_ store: SqlAuthenticationStore, folder: String? = nil, _ seals: SecretSeals = SecretSeals(current: .random()))
        -> KeptSecrets
    {
        KeptSecrets(folder: ClientSecretFolder(path: folder), store: store, seals: seals, clock: ManualClock())
    }

    @Test("a secret is used as it was written, and is nowhere in clear", arguments: Backend.allCases)
    func keeps(_ backend: Backend) async throws {
        let store = try backend.open()
        let secrets = secrets(store)
        #expect(try await secrets.secret(Self.reference) == nil)
        #expect(try await secrets.put(Self.reference, ProviderSecret("s3cret of openfiber"), owner: "acme") == false)
        #expect(try await secrets.secret(Self.reference)?.text == "s3cret of openfiber")
        #expect(try await secrets.put(Self.reference, ProviderSecret("another one"), owner: "acme") == true)
        #expect(try await secrets.secret(Self.reference)?.text == "another one")
        let sealed = try #require(try await store.sealedSecret(Self.reference)).sealed
        #expect(!String(decoding: sealed, as: UTF8.self).contains("another"))
        let list = try await secrets.list()
        #expect(list.map(\.reference) == ["openfiber-2"] && list.map(\.owner) == ["acme"] && list.map(\.isFile) == [false])
    }

    @Test("clients #99: another owner's reference does not exist for others, not even to be overwritten", arguments: Backend.allCases)
    func foreign(_ backend: Backend) async throws {
        let secrets = secrets(try backend.open())
        _ = try await secrets.put(Self.reference, ProviderSecret("acme's"), owner: "acme")
        for owner in ["bravo", ""] {
            let fault = await #expect(throws: Fault.self) { _ = try await secrets.put(Self.reference, ProviderSecret("x"), owner: owner) }
            #expect(fault?.code == .notFound)
        }
        #expect(try await secrets.secret(Self.reference)?.text == "acme's")
    }

    @Test("clients #99: a file wins, and is not shadowed by what is written")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "secrets-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let secrets = secrets(try Backend.sqlite.open(), folder: folder.path)
        _ = try await secrets.put(Self.reference, ProviderSecret("written"), owner: "acme")
        try Data(" of a file \n".utf8).write(to: folder.appending(path: "openfiber-2.secret"))
        #expect(try await secrets.secret(Self.reference)?.text == "of a file")
        let fault = await #expect(throws: Fault.self) { _ = try await secrets.put(Self.reference, ProviderSecret("x"), owner: "acme") }
        #expect(fault?.code == .invalidRequest && fault?.message.contains("file") == true)
        let list = try await secrets.list()
        #expect(list.map(\.reference) == ["openfiber-2"] && list.map(\.isFile) == [true] && list.map(\.owner) == [""])
    }

    @Test(
        "references and secrets are bounded",
        arguments: [
            ("", "x"), ("../x", "x"), ("a b", "x"), (String(repeating: "a", count: 129), "x"), ("a", ""), ("a", "x\n"),
            ("a", String(repeating: "x", count: 4097)),
        ])
    func bounds(reference: String, secret: String) async throws {
        let secrets = secrets(try Backend.sqlite.open())
        let fault = await #expect(throws: Fault.self) { _ = try await secrets.put(SecretReference(reference), ProviderSecret(secret), owner: "") }
        #expect(fault?.code == .invalidRequest)
    }

    @Test("another key takes over without a restart: what the older one sealed goes on, and is sealed anew", arguments: Backend.allCases)
    func rotation(_ backend: Backend) async throws {
        let store = try backend.open()
        let (first, second) = (SymmetricKey.random(), SymmetricKey.random())
        let seals = SecretSeals(current: first)
        let secrets = secrets(store, seals)
        _ = try await secrets.put(Self.reference, ProviderSecret("kept"), owner: "")
        seals.adopt(current: second, older: [])
        #expect(try await secrets.secret(Self.reference)?.text == "kept", "the former key is remembered")
        let restarted = KeptSecrets(
            folder: secrets.folder, store: store, seals: SecretSeals(current: second, older: [first]), clock: secrets.clock)
        #expect(try await restarted.secret(Self.reference)?.text == "kept")
        #expect(
            try await KeptSecrets(folder: secrets.folder, store: store, seals: SecretSeals(current: second), clock: secrets.clock).secret(
                Self.reference) == nil)
        try await restarted.resealAll()
        #expect(
            try await KeptSecrets(folder: secrets.folder, store: store, seals: SecretSeals(current: second), clock: secrets.clock).secret(
                Self.reference)?.text == "kept")
        #expect(
            try await KeptSecrets(folder: secrets.folder, store: store, seals: SecretSeals(current: first), clock: secrets.clock).secret(
                Self.reference) == nil)
    }

    @Test("what was sealed for one reference opens for no other")
    func isBound() throws {
        let seals = SecretSeals(current: .random())
        let sealed = try seals.close(ProviderSecret("x"), SecretReference("a"))
        func open(_ name: String) -> ProviderSecret? {
            seals.open(SealedSecret(reference: SecretReference(name), owner: "", sealed: sealed, writtenAt: t0))
        }
        #expect(open("a")?.text == "x")
        #expect(open("b") == nil)
    }
}
