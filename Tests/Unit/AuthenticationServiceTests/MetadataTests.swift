import Clocks
import Contracts
import Cryptography
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

@Suite("User metadata")
struct MetadataTests {
    private let programmer: CertifiedKey

    init() throws { programmer = try Self.identity() }

    private static func identity(of key: RSAPrivateKey? = nil, until end: Timestamp = t0 + .seconds(86_400 * 300)) throws -> CertifiedKey {
        try .selfSigned(
            commonName: "Seven", key: .rsa(key ?? TestRSAKeys.two.get().0), validity: CertificateValidity(notBefore: t0 - .seconds(60), notAfter: end)
        )
    }

    private static func certificate(_ identity: CertifiedKey) -> Contracts.Certificate {
        Contracts.Certificate(id: "c", der: identity.certificate.der, encryptsUserMetadata: true)
    }

    /// A device that is signed in where these keys are enabled.
    private func signedIn(_ keys: [MetadataKey], _ backend: Backend = .sqlite) async throws -> (Rig, DeviceCall) {
        let rig = try Rig(backend)
        rig.catalogue.change { configuration in
            configuration.integrations[0].metadataKeys = keys
            configuration.programmers[0].certificates = [Self.certificate(programmer)]
        }
        let call = try await rig.call(rig.bearer())
        try await rig.signIn(call)
        return (rig, call)
    }

    private func read(_ entry: MetadataEntry?, padding: RSAEncryptionPadding = .oaepSHA256) throws -> String? {
        guard case .text(let text) = entry?.value, case .rsa(let key) = programmer.key, let block = Base64.standard.decode(text) else { return nil }
        return String(decoding: try key.decrypt(block, padding: padding), as: UTF8.self)
    }

    private static let household = MetadataKey(key: "householdID")
    private static let lineup = MetadataKey(key: "channelID", encrypted: true)
    private static let user = MetadataKey(key: "userID", encrypted: true)

    @Test("rest-v1 #81: the enabled keys, the moment in seconds, and encrypted ones as JSON to the programmer's key", arguments: Backend.allCases)
    func tells(_ backend: Backend) async throws {
        let (rig, call) = try await signedIn([Self.household, Self.lineup], backend)
        let metadata = try await rig.metadata(call)
        #expect(metadata.updatedAtSeconds == UInt64(t0.seconds))
        #expect(metadata.data.map(\.key) == ["householdID", "channelID"])
        #expect(metadata.data.first?.value == .text("house-1"))
        #expect(metadata.encrypted == ["channelID"])
        #expect(try read(metadata.data.last) == #"["a","b"]"#)
    }

    @Test("rest-v1 #111: an encrypted userID is the bare text; PKCS#1 where the programmer asks for it")
    func bareText() async throws {
        let (rig, call) = try await signedIn([Self.user])
        #expect(try read(try await rig.metadata(call).data.first) == "user-42")
        rig.catalogue.change { $0.programmers[0].metadataEncryption = .pkcs1V15 }
        #expect(try read(try await rig.metadata(call).data.first, padding: .pkcs1v15) == "user-42")
    }

    @Test("a value is encrypted once for a session, anew when it or the certificate changes, and never alike for two sessions")
    func isSealedOnce() async throws {
        let (rig, call) = try await signedIn([Self.user, Self.lineup])
        let first = try await rig.metadata(call)
        #expect(try await rig.metadata(call) == first)
        let other = try await rig.call(rig.bearer(), device: "another-device")
        try await rig.signIn(other, assertion: "_assertion-2")
        let others = try await rig.metadata(other)
        #expect(try read(others.data.first) == "user-42")
        #expect(others.data.first != first.data.first)
        let next = try Self.identity(of: .generate())
        rig.catalogue.change { $0.programmers[0].certificates = [Self.certificate(next)] }
        #expect(try await rig.metadata(call).data.allSatisfy { !first.data.contains($0) })
        rig.catalogue.change { $0.programmers[0].certificates = [Self.certificate(programmer)] }
        #expect(try await rig.update(try await rig.session(call), call, [UserAttribute(key: "channelID", values: ["c"])]))
        #expect(try read(try await rig.metadata(call).data.last) == #"["c"]"#)
    }

    @Test("rest-v1 #82, clients #89: without a usable certificate the encrypted keys are left out, never in clear; which, is told")
    func noCertificate() async throws {
        let (rig, call) = try await signedIn([Self.household, Self.lineup, Self.user])
        let expired = Self.certificate(try Self.identity(until: t0 - .seconds(1)))
        var revoked = Self.certificate(programmer)
        revoked.revoked = true
        for certificates in [[], [expired], [revoked]] {
            rig.catalogue.change { $0.programmers[0].certificates = certificates }
            let metadata = try await rig.metadata(call)
            #expect(metadata.data.map(\.key) == ["householdID"])
            #expect(metadata.encrypted.isEmpty && metadata.unsealed == ["channelID", "userID"])
        }
        rig.catalogue.change { $0.programmers[0].certificates = [expired, Self.certificate(programmer)] }
        #expect(try await rig.metadata(call).encrypted == ["channelID", "userID"])
    }

    @Test("a value that does not fit into one block is left out, never in clear")
    func tooLong() async throws {
        let (rig, call) = try await signedIn([Self.household, Self.lineup])
        let session = try await rig.session(call)
        let many = UserAttribute(key: "channelID", values: (0..<64).map { "channel-\($0)" })
        #expect(try await rig.update(session, call, [many]))
        #expect(try await rig.metadata(call).data.map(\.key) == ["householdID"])
    }

    @Test("rest-v1 #83: new values replace the old ones and the moment grows; the same values change nothing", arguments: Backend.allCases)
    func updates(_ backend: Backend) async throws {
        let (rig, call) = try await signedIn([MetadataKey(key: "maxRating"), Self.household], backend)
        let session = try await rig.session(call)
        let first = try await rig.metadata(call)
        let rating = UserAttribute(key: "maxRating.VCHIP", values: ["TV-PG"])
        #expect(try await rig.update(session, call, [rating]))
        let second = try await rig.metadata(call)
        #expect(second.updatedAtSeconds > first.updatedAtSeconds)
        #expect(second.data.first { $0.key == "maxRating" }?.value == .map(TextMap(entries: [TextMapEntry(key: "VCHIP", value: "TV-PG")])))
        rig.clock.advance(by: .seconds(60))
        #expect(try await !rig.update(session, call, [rating]))
        #expect(try await rig.metadata(call) == second)
        #expect(try await rig.update(session, call, [UserAttribute(key: "householdID")]))
        let third = try await rig.metadata(call)
        #expect(third.data.map(\.key) == ["maxRating"])
        #expect(third.updatedAtSeconds == UInt64((t0 + .seconds(60)).seconds))
        #expect(try await rig.session(call).id == session.id)
    }

    @Test("attributes of a session that is over, or of another one, are not taken", arguments: Backend.allCases)
    func lateUpdate(_ backend: Backend) async throws {
        let (rig, call) = try await signedIn([Self.household], backend)
        let old = try await rig.session(call)
        try await rig.signIn(call, assertion: "_assertion-2")
        #expect(try await !rig.update(old, call, [UserAttribute(key: "householdID", values: ["other"])]))
        let session = try await rig.session(call)
        rig.clock.advance(by: .seconds(31 * 86_400))
        #expect(try await !rig.update(session, call, [UserAttribute(key: "householdID", values: ["other"])]))
    }

    @Test("rest-v1 #84: no enabled key tells nothing; an expired session is one, and none is none")
    func nothing() async throws {
        let (rig, call) = try await signedIn([])
        #expect(try await rig.metadata(call).data.isEmpty)
        rig.clock.advance(by: .seconds(30 * 86_400))
        let fresh = try await rig.call(rig.bearer())
        await expectFault(.authenticationSessionExpired) { _ = try await rig.metadata(fresh) }
        _ = try await rig.logout(fresh)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.metadata(fresh) }
    }

    @Test("rest-v1 #107: without a requestor the application's only one is meant; several are refused")
    func withoutRequestor() async throws {
        let (rig, call) = try await signedIn([Self.household])
        var unnamed = call
        unnamed.requestor = ""
        await expectFault(.invalidRequestor) { _ = try await rig.metadata(unnamed) }
        unnamed.accessToken = try await rig.bearer("phone")
        #expect(try await rig.metadata(unnamed).data.map(\.key) == ["householdID"])
        unnamed.accessToken = "none"
        await expectFault(.accessDenied) { _ = try await rig.metadata(unnamed) }
    }

    @Test("rest-v1 #92: a degraded session tells its userID alone")
    func degraded() async throws {
        let rig = try Rig()
        let call = try await rig.call(rig.bearer())
        let code = try await rig.code(call)
        rig.degrade(.authnAll)
        _ = try await rig.service.startSignIn(Rig.startRequest(code.code), context: rig.context)
        let metadata = try await rig.metadata(call)
        #expect(metadata.data.map(\.key) == ["userID"])
        guard case .text(let id) = metadata.data.first?.value else { throw NoText() }
        #expect(id == (try await rig.session(call)).userID)
        #expect(id.hasPrefix("95cf93bcd183214a"))
    }

    private struct NoText: Error {}
}

extension Rig {
    func metadata(_ call: DeviceCall) async throws -> UserMetadata {
        try await service.getUserMetadata(SessionRequest(call: call), context: context)
    }

    func update(_ session: Session, _ call: DeviceCall, _ attributes: [UserAttribute]) async throws -> Bool {
        let request = UpdateAttributesRequest(sessionID: session.id, deviceID: call.deviceID, requestor: call.requestor, attributes: attributes)
        return try await sessions.updateAttributes(request, context: context).changed
    }
}
