internal import Cryptography
public import Tokens

extension ConfigSettings {
    /// The files of keys of software statements.
    public var statementKeyFiles: [String] { [statementKey] + (nextStatementKey.map { [$0] } ?? []) + olderStatementKeys }

    /// What these files hold.
    /// - Parameter read: Gets a path as it stands in the settings and the key where it stands; returns the file's text.
    /// - Throws: What `read` throws; `StatementKeyProblem` when a file holds something else.
    public func statementKeys(read: (_ path: String, _ key: String) throws -> String) throws -> SigningKeyFiles {
        func use<Key>(_ path: String, _ name: String, _ make: (String) throws -> Key) throws -> Key {
            let pem = try read(path, "config.\(name)")
            do {
                return try make(pem)
            } catch {
                throw StatementKeyProblem(key: "config.\(name)", path: path, reason: "\(error)")
            }
        }
        func key(_ path: String, _ name: String) throws -> SigningKey {
            try use(path, name) { SigningKey(try P256PrivateKey(pem: $0)) }
        }
        return SigningKeyFiles(
            current: try key(statementKey, "statementKey"), next: try nextStatementKey.map { try key($0, "nextStatementKey") },
            older: try olderStatementKeys.enumerated().map { index, path in
                try use(path, "olderStatementKeys[\(index)]") { JSONWebKey(.p256(try P256PublicKey(ofEitherPEM: $0))) }
            })
    }
}

/// A file that holds no key for software statements.
public struct StatementKeyProblem: Error, Hashable, Sendable {
    /// Where the file is named, for example `config.statementKey`.
    public let key: String
    /// As it stands there.
    public let path: String
    public let reason: String
}
