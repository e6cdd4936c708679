internal import Catalogue
internal import Contracts
internal import Faults

/// Whose client an id names: one that registered here, one that another house registered, or a key pair.
struct ClientDirectory: Sendable {
    /// Comes before a pair's public key, where a client has its id; no other id has a colon.
    private static let keyMark = "key:"
    /// What apps with credentials that everybody may know are good for, whatever their application has (clients §2).
    static let sharedScopes = BearerCheck.appScopes

    let store: any ClientStore

    static func id(ofKey publicKey: String) -> ClientID { ClientID(keyMark + publicKey) }

    /// - Returns: `nil` when the client or its application is there no more.
    func application(of client: ClientID, in catalogue: Catalogue) async throws(Fault) -> Application? {
        if client.text.utf8.starts(with: Self.keyMark.utf8) {
            return catalogue.signingKey(String(client.text.dropFirst(Self.keyMark.count)))?.application
        }
        if let known = try await store.client(client) {
            return catalogue.application(softwareID: known.softwareID.text, registeredAtMilliseconds: known.issuedAt.milliseconds)
        }
        return catalogue.importedClient(client.text)?.application
    }

    /// The scopes of a client that registered with a statement.
    static func scopes(of application: Application, software: SoftwareID) -> [String] {
        software.text.utf8.starts(with: Catalogue.legacySoftware.utf8) ? sharedScopes : application.scopes
    }
}
