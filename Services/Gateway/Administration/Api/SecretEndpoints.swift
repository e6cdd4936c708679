internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import TextEncodings

/// Secrets that the catalogue refers to: config says who may write one, authentication keeps it, and nobody reads it back.
struct SecretEndpoints: Sendable {
    static let path = "\(EntityCollection.base)/secrets"

    let administration: any Administration
    let operations: any AuthenticationOperations

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let administrator = try await administration.getAdministrator(GetAdministratorRequest(token: token), context: exchange.call)
        // Config alone knows the owner of a file.
        let owners = try await administration.listSecretOwners(ListSecretOwnersRequest(token: token), context: exchange.call).owners
        let ofFiles = Dictionary(texts: owners.map { ($0.reference, $0) }) { first, _ in first }
        var rows = try await operations.listSecrets(ListSecretsRequest(), context: exchange.call).secrets.map { secret in
            Row(secret, secret.isFile ? ofFiles[OctetText(secret.reference)] : nil)
        }
        let listed = Set(texts: rows.map(\.reference))
        // Key files of other services are in no list of theirs.
        rows += owners.filter { !listed.contains(OctetText($0.reference)) }.map(Row.init)
        let seen = rows.filter { administrator.role == .operator || administrator.programmerIDs.contains($0.programmer) }
        return Response(Document("secrets", [.init("secrets", .list(seen.map(\.value), item: "secret"))]), format: .json)
    }

    private struct Row {
        let reference: String
        /// Empty: operators'.
        let programmer: String
        let isFile: Bool
        let writtenAt: UInt64
        let isOpen: Bool

        init(_ secret: StoredSecret, _ owner: SecretOwner?) {
            (reference, isFile, writtenAt) = (secret.reference, secret.isFile, secret.writtenAtMilliseconds)
            programmer = secret.isFile ? owner?.programmerID ?? "" : secret.programmerID
            isOpen = owner?.isOpen ?? false
        }

        init(_ owner: SecretOwner) {
            (reference, programmer, isFile, writtenAt, isOpen) = (owner.reference, owner.programmerID, true, 0, owner.isOpen)
        }

        var value: Document.Value {
            let members: [Document.Member] = [
                .init("reference", .text(reference)), .init("programmer", programmer.isEmpty ? .null : .text(programmer)),
                .init("kept", .text(isFile ? "file" : "store")),
                .init("writtenAt", writtenAt == 0 ? .null : .number(Int64(clamping: writtenAt))),
            ]
            return .object(isOpen ? members + [.init("open", .flag(true))] : members)
        }
    }

    /// Says whose a file is; for operators.
    @Sendable func setOwner(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let reference = try exchange.captured("reference")
        let programmer = try AdministrationBody.object(exchange) { $0.optionalText("programmer") }
        try await requireFile(reference, token, exchange)
        let request = SetSecretOwnerRequest(token: token, reference: reference, programmerID: programmer)
        _ = try await administration.setSecretOwner(request, context: exchange.changingCall)
        return Response(
            Document(
                "secret",
                [.init("reference", .text(reference)), .init("programmer", programmer.isEmpty ? .null : .text(programmer))]), format: .json)
    }

    /// A name that is no file's is misspelt, or a written secret's, whose owner is settled. Key files of other services are in nobody's list: their
    /// names have an ending.
    private func requireFile(_ reference: String, _ token: String, _ exchange: Exchange) async throws {
        // Others than operators may not set it, and hear nothing of names.
        let administrator = try await administration.getAdministrator(GetAdministratorRequest(token: token), context: exchange.call)
        guard administrator.role == .operator else { return }
        let list: [StoredSecret]
        do {
            list = try await operations.listSecrets(ListSecretsRequest(), context: exchange.call).secrets
        } catch let fault as Fault where fault.code == .unimplemented {
            // A service that lists no secrets has files alone.
            return
        }
        let owned = try await administration.listSecretOwners(ListSecretOwnersRequest(token: token), context: exchange.call).owners.map(\.reference)
        let files = Set(texts: list.filter(\.isFile).map(\.reference) + owned)
        let name = OctetText(reference)
        if list.contains(where: { !$0.isFile && OctetText($0.reference) == name }) {
            throw Self.refused("is a written secret: its owner is settled by who wrote it first. Write another one for another owner")
        }
        guard !files.contains(name), !reference.utf8.contains(UInt8(ascii: ".")) else { return }
        let known = files.map(\.text).sorted()
        let more = known.count > Self.mostNamed ? ", and \(known.count - Self.mostNamed) more ('boxoffice secret list')" : ""
        throw Self.refused(
            known.isEmpty
                ? "is no file of a secret: there are none"
                : "is no file of a secret; there are \(known.prefix(Self.mostNamed).joined(separator: ", "))\(more)")
    }

    /// At most so many names are in an answer.
    private static let mostNamed = 20

    private static func refused(_ message: String) -> AdministrationError { .invalid([FieldProblem(field: "reference", message: message)]) }

    @Sendable func write(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let reference = try exchange.captured("reference")
        let (secret, programmer) = try AdministrationBody.object(exchange) { ($0.text("secret"), $0.optionalText("programmer")) }
        guard (1...4096).contains(secret.utf8.count), secret.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f }) else {
            throw AdministrationError.invalid([FieldProblem(field: "secret", message: "must be 1 to 4096 octets without control characters")])
        }
        let known = try await operations.listSecrets(ListSecretsRequest(), context: exchange.call).secrets.first { $0.reference == reference }
        let request = AuthorizeSecretRequest(token: token, reference: reference, programmerID: programmer, known: known.map(KnownSecret.init))
        let owner: String
        switch try await administration.authorizeSecret(request, context: exchange.changingCall).outcome {
        case .programmerID(let id): owner = id
        case .refusal(let refusal): throw AdministrationError(refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
        let stored = PutSecretRequest(reference: reference, secret: secret, programmerID: owner)
        let outcome = try await operations.putSecret(stored, context: exchange.changingCall)
        return Response(
            Document(
                "secret",
                [
                    .init("reference", .text(reference)), .init("programmer", owner.isEmpty ? .null : .text(owner)),
                    .init("replaced", .flag(outcome.replaced)),
                ]), format: .json)
    }
}

extension SecretInventory {
    /// The present answers of the services that keep secrets.
    static func asked(of operations: any AuthenticationOperations, for exchange: Exchange) async -> SecretInventory {
        do {
            let list = try await operations.listSecrets(ListSecretsRequest(), context: exchange.call)
            return SecretInventory(knowledge: .told, secrets: list.secrets.map(KnownSecret.init))
        } catch {
            // Somebody's own service may keep no secrets.
            return SecretInventory(knowledge: (error as? Fault)?.code == .unimplemented ? .untold : .away)
        }
    }
}

extension KnownSecret {
    init(_ secret: StoredSecret) { self.init(reference: secret.reference, programmerID: secret.programmerID, isFile: secret.isFile) }
}

/// The collections of the administration API, and what they are called there.
enum EntityCollection: String, CaseIterable, Sendable {
    case programmers
    case requestors
    case mvpds
    case integrations
    case applications
    case platformIdentityIssuers = "platform-identity-issuers"
    case serviceTokenIssuers = "service-token-issuers"
    case upstreams

    static let base = "/admin/v1"

    var path: String { "\(Self.base)/\(rawValue)" }

    var kind: EntityKind {
        switch self {
        case .programmers: .programmer
        case .requestors: .requestor
        case .mvpds: .mvpd
        case .integrations: .integration
        case .applications: .application
        case .platformIdentityIssuers: .platformIdentityIssuer
        case .serviceTokenIssuers: .serviceTokenIssuer
        case .upstreams: .upstream
        }
    }

    /// True when its entries are named by an issuer, which is a URL.
    var isNamedByIssuer: Bool { self == .platformIdentityIssuers || self == .serviceTokenIssuers }

    /// Path of one entry for the router; an integration is named by both of its ends.
    var entryPath: String { self == .integrations ? "\(path)/{requestor}/{mvpd}" : "\(path)/{id}" }

    /// The address of an entry.
    func address(of id: String) -> String {
        let parts =
            self == .integrations
            ? id.split(separator: "/", maxSplits: 1).map(String.init) : [isNamedByIssuer ? Self.escape(id) : id]
        return ([path] + parts.map(PercentEncoding.encode)).joined(separator: "/")
    }
}

extension EntityCollection {
    /// An id as one segment of a path: an issuer is a URL, and no segment holds a slash. `~1` stands for `/` and `~0` for `~` (RFC 6901 §3).
    static func escape(_ id: String) -> String { id.replacing("~", with: "~0").replacing("/", with: "~1") }

    /// The id that a segment stands for.
    static func unescape(_ segment: String) -> String { segment.replacing("~1", with: "/").replacing("~0", with: "~") }
}

extension EntityKind {
    /// The word of the API for one of the kind.
    var word: String {
        switch self {
        case .programmer: "programmer"
        case .requestor: "requestor"
        case .mvpd: "mvpd"
        case .integration: "integration"
        case .application: "application"
        case .platformIdentityIssuer: "platformIdentityIssuer"
        case .serviceTokenIssuer: "serviceTokenIssuer"
        case .upstream: "upstream"
        case .unknown, .unrecognized: "unknown"
        }
    }
}
