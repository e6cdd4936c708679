public import ContractRuntime
public import Contracts
internal import Cryptography
internal import Faults
public import Tokens

/// The operations of `boxoffice.config.v1.Config`.
public struct ConfigService: Config {
    private let published: PublishedCatalogue
    private let statements: StatementSigner
    private let statementCallers: Set<String>

    /// - Parameter statementCallers: Certificate names that may have software statements issued. A statement is a credential, so the allow-list of
    ///   the service as a whole is too wide for it.
    public init(published: PublishedCatalogue, statements: StatementSigner, statementCallers: Set<String>) {
        self.published = published
        self.statements = statements
        self.statementCallers = statementCallers
    }

    /// Offers the operations; the whole configuration is answered from memory, without decoding or encoding anything, to watchers too.
    public func register(in registry: inout some MethodRegistry) {
        ConfigMethods.register(self, in: &registry)
        registry.immediate(ConfigMethods.getConfiguration) { [published] _, _ in try published.encoded() }
        registry.encodedStream(ConfigMethods.watchConfiguration) { [published] request, _ in
            published.subscribe(knownVersion: request.knownVersion) { $0.encoded }
        }
    }

    public func getConfiguration(_ request: GetConfigurationRequest, context: CallContext) async throws -> Configuration {
        try published.edition().configuration
    }

    public func watchConfiguration(
        _ request: WatchConfigurationRequest, context: CallContext
    ) async throws -> AsyncThrowingStream<Configuration, any Error> {
        published.subscribe(knownVersion: request.knownVersion) { $0.configuration }
    }

    public func issueSoftwareStatement(
        _ request: IssueSoftwareStatementRequest, context: CallContext
    ) async throws -> Contracts.SoftwareStatement {
        guard let caller = context.caller, statementCallers.contains(caller) else {
            throw Fault(.permissionDenied, "This caller may not have software statements issued.")
        }
        guard let application = published.configuration.applications.first(where: { $0.id == request.applicationID }) else {
            throw Fault(.invalidRequest, "The catalogue has no application of that id.")
        }
        guard let softwareID = application.softwareIDs.first else {
            throw Fault(.unapprovedSoftwareStatement, "The application's software statement is revoked.")
        }
        let content = Tokens.SoftwareStatement(softwareID: softwareID, applicationID: application.id, applicationName: application.name)
        return Contracts.SoftwareStatement(statement: try await statements.issue(content), softwareID: softwareID)
    }
}

extension ConfigSettings {
    /// The files of keys of software statements.
    public var statementKeyFiles: [String] { [statementKey] + (nextStatementKey.map { [$0] } ?? []) + olderStatementKeys }

    /// The contents of these files.
    /// - Parameter read: Gets a path as it stands in the settings and the key where it stands; returns the file's text.
    /// - Throws: The errors of `read`; `StatementKeyError` when a file holds something else.
    public func statementKeys(read: (_ path: String, _ key: String) throws -> String) throws -> SigningKeyFiles {
        func use<Key>(_ path: String, _ name: String, _ make: (String) throws -> Key) throws -> Key {
            let pem = try read(path, "config.\(name)")
            do {
                return try make(pem)
            } catch {
                throw StatementKeyError(key: "config.\(name)", path: path, reason: "\(error)")
            }
        }
        func key(_ path: String, _ name: String) throws -> JoseSigningKey {
            try use(path, name) { JoseSigningKey(try P256PrivateKey(pem: $0)) }
        }
        return SigningKeyFiles(
            current: try key(statementKey, "statementKey"), next: try nextStatementKey.map { try key($0, "nextStatementKey") },
            older: try olderStatementKeys.enumerated().map { index, path in
                try use(path, "olderStatementKeys[\(index)]") { JSONWebKey(.p256(try P256PublicKey(ofEitherPEM: $0))) }
            })
    }
}

/// A file that holds no key for software statements.
public struct StatementKeyError: Error, Hashable, Sendable {
    /// Where the file is named, for example `config.statementKey`.
    public let key: String
    /// As it stands there.
    public let path: String
    public let reason: String
}
