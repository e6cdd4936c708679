internal import BridgeClient
package import Catalogue
package import Clocks
package import ContractRuntime
package import Contracts
internal import Cryptography
package import Faults
internal import Foundation
package import Logging
internal import Memos

/// Tells an app what it may know of the person, and takes what the MVPD says of them later (rest-v1 §3.19).
package struct UserMetadataAnswer: Sendable {
    /// The seal of one session: two people who have a value in common do not get the same text for it.
    private struct Sealing: Hashable {
        let session: SessionID
        let items: [MetadataSheet.Item]
        let seal: MetadataSeal
    }

    private struct Sealed: Sendable {
        var data: [MetadataEntry] = []
        var encrypted: [String] = []
        var unsealed: [String] = []
    }

    package let bearers: BearerCheck
    package let sessions: SessionLookup
    package let trials: TrialPlays
    package let store: SqlAuthenticationStore
    package let clock: any WallClock
    package let logger: Logger
    package let deciders: [any Decider]
    /// Apps ask at each start, and values change seldom.
    private let sealings = Memo<Sealing, Sealed>(capacity: 4096)

    /// - Returns: Without data when there is nothing to tell.
    /// - Throws: As `SessionLookup.session(of:hidesDisabled:)`; `invalid_requestor` when the call names none and the application covers several.
    package func metadata(of call: DeviceCall?) async throws(Fault) -> UserMetadata {
        let (session, catalogue) = try await sessions.session(of: try await complete(call ?? DeviceCall()), hidesDisabled: true)
        return try await metadata(of: session, in: catalogue)
    }

    /// The same of a session at hand.
    package func metadata(of session: SessionRecord, in catalogue: Catalogue) async throws(Fault) -> UserMetadata {
        for decider in deciders {
            if let told = try await decider.attributes(of: session) { return try await answer(told.attributes, told.session, catalogue) }
        }
        return try await metadata(of: session, trial: try await trials.facts(of: session, in: catalogue), in: catalogue)
    }

    /// Upstream's data, narrowed by the integration's keys; what it has encrypted stays as it is (bridge §8.2).
    private func answer(_ attributes: [BridgedAttribute], _ session: SessionRecord, _ catalogue: Catalogue) async throws(Fault) -> UserMetadata {
        let keys = Self.keys(of: session, in: catalogue)
        let told = attributes.filter { attribute in keys.isEmpty || keys.contains { $0.key.metadataName == attribute.name } }
        let items = told.filter { !$0.isEncrypted }.compactMap { attribute in
            MetadataEntry.Value(json: attribute.json).map { value in
                MetadataSheet.Item(
                    key: attribute.name, value: value, isEncrypted: keys.contains { $0.key.metadataName == attribute.name && $0.encrypted })
            }
        }
        var metadata = try await answer(MetadataSheet(items: items), session, catalogue)
        for attribute in told where attribute.isEncrypted {
            guard let value = MetadataEntry.Value(json: attribute.json) else { continue }
            metadata.data.append(MetadataEntry(key: attribute.name, value: value))
            metadata.encrypted.append(attribute.name)
        }
        return metadata
    }

    /// - Parameter facts: The facts of a trial; `nil`: none.
    package func metadata(of session: SessionRecord, trial facts: TempPassFacts?, in catalogue: Catalogue) async throws(Fault) -> UserMetadata {
        try await answer(MetadataSheet(session, keys: Self.keys(of: session, in: catalogue), trial: facts), session, catalogue)
    }

    /// The metadata that a device gets with an automatic session, also where it keeps its earlier session (apple §1.2).
    package func streamingMetadata(of session: SessionRecord, in catalogue: Catalogue) async throws(Fault) -> UserMetadata {
        let sheet = MetadataSheet(session, keys: Self.keys(of: session, in: catalogue), trial: nil)
        return try await answer(sheet.forStreaming, session, catalogue)
    }

    private static func keys(of session: SessionRecord, in catalogue: Catalogue) -> [MetadataKey] {
        catalogue.integration(requestor: session.key.requestor.text, mvpd: session.mvpd.text)?.metadataKeys ?? []
    }

    private func answer(_ sheet: MetadataSheet, _ session: SessionRecord, _ catalogue: Catalogue) async throws(Fault) -> UserMetadata {
        let requestor = try catalogue.requireRequestor(session.key.requestor.text)
        var metadata = UserMetadata(updatedAtSeconds: UInt64(clamping: session.updatedAt.seconds))
        guard sheet.items.contains(where: \.isEncrypted) else {
            metadata.data = sheet.items.map { MetadataEntry(key: $0.key, value: $0.value) }
            return metadata
        }
        let sealed = try await sealed(
            Sealing(session: session.id, items: sheet.items, seal: MetadataSeal(of: requestor, in: catalogue, now: clock.now())), of: requestor)
        (metadata.data, metadata.encrypted, metadata.unsealed) = (sealed.data, sealed.encrypted, sealed.unsealed)
        return metadata
    }

    /// - Returns: False when nothing differs, or the session is gone.
    package func update(_ request: UpdateAttributesRequest) async throws(Fault) -> Bool {
        let update = AttributeUpdate(request)
        let now = clock.now()
        // Most decisions bring what is known: they need no commit.
        guard update.applied(to: try await store.sessions(update.key), now: now) != nil else { return false }
        return try await store.update(update, now: now)
    }

    /// The requestor that the application covers, where the call names none.
    private func complete(_ call: DeviceCall) async throws(Fault) -> DeviceCall {
        guard call.requestor.isEmpty else { return call }
        let covered = try await bearers.client(call.credentials, requestor: "").requestors
        guard covered.count == 1 else { throw Fault(.invalidRequestor, "Required 'requestor' is not present") }
        var call = call
        call.requestor = covered[0].text
        return call
    }

    private func sealed(_ sealing: Sealing, of requestor: Requestor) async throws(Fault) -> Sealed {
        if let known = sealings[sealing] { return known }
        let sealed = try await offEventLoop { [logger] () throws(Fault) in Self.sealed(sealing, of: requestor, logger) }
        // A value that is left out is tried again, and logged again.
        if sealed.unsealed.isEmpty { sealings[sealing] = sealed }
        return sealed
    }

    /// A value that cannot be encrypted is left out.
    private static func sealed(_ sealing: Sealing, of requestor: Requestor, _ logger: Logger) -> Sealed {
        var sealed = Sealed()
        for item in sealing.items {
            guard item.isEncrypted else {
                sealed.data.append(MetadataEntry(key: item.key, value: item.value))
                continue
            }
            do throws(MetadataSeal.Rejection) {
                sealed.data.append(MetadataEntry(key: item.key, value: .text(try sealing.seal.seal(item.value))))
                sealed.encrypted.append(item.key)
            } catch {
                sealed.unsealed.append(item.key)
                logger.warning(
                    "metadata.key_left_out",
                    metadata: ["requestor": "\(requestor.id)", "key": "\(item.key)", "reason": "\(error.rawValue)"])
            }
        }
        return sealed
    }
}

extension UserMetadataAnswer: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.getUserMetadata) { request, _ in try await metadata(of: request.call) }
        calls.unary(SessionsMethods.updateAttributes) { request, _ in UpdateAttributesResponse(changed: try await update(request)) }
    }
}

/// Encrypts values to a programmer's certificate (rest-v1 §8).
struct MetadataSeal: Hashable, Sendable {
    /// A value is left out for one of these reasons: it is never told in clear.
    enum Rejection: String, Error {
        case noCertificate = "no_certificate"
        case tooLong = "too_long"
        case failed = "failed"
    }

    private let certificate: Cryptography.Certificate?
    private let padding: RSAEncryptionPadding

    init(_ certificate: Cryptography.Certificate?, _ encryption: MetadataEncryption) {
        self.certificate = certificate
        padding = encryption == .pkcs1V15 ? .pkcs1v15 : .oaepSHA256
    }

    init(of requestor: Requestor, in catalogue: Catalogue, now: Timestamp) {
        self.init(catalogue.metadataCertificate(of: requestor, now: now), catalogue.metadataEncryption(of: requestor))
    }

    /// - Returns: Base64 of one RSA block over the value's UTF-8 text.
    func seal(_ value: MetadataEntry.Value) throws(Rejection) -> String {
        guard let certificate, case .rsa(let key) = try? certificate.publicKey() else { throw .noCertificate }
        let text = Array(value.plaintext.utf8)
        guard text.count <= key.longestPlaintext(padding) else { throw .tooLong }
        do {
            return Base64.standard.encode(try key.encrypt(text, padding: padding))
        } catch {
            throw .failed
        }
    }
}

extension MetadataEntry.Value {
    /// A text as it is: the programmer expects the value, not a literal of it. Anything else as JSON.
    var plaintext: String {
        switch self {
        case .text(let text): text
        case .flag(let flag): flag ? "true" : "false"
        case .number(let number): String(number)
        case .list(let list): Self.json(list.values)
        case .map(let map): Self.json(Dictionary(map.entries.map { ($0.key, $0.value) }) { first, _ in first })
        }
    }

    private static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts, alone and in lists and objects, always encode.
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
