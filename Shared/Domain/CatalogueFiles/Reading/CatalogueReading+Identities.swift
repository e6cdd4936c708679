internal import Contracts
internal import StrictJson

/// Identities that apps bring along from another house (clients §2, §2.1): key pairs, statements, clients.
extension CatalogueReading {
    func readIdentities(_ object: JsonObject, _ application: inout Application) {
        let owner = application.id
        let requestors = application.requestorIDs
        application.signingKeys = object.optional("signingKeys")?.array { signingKey($0, of: owner, requestors) } ?? []
        application.legacyStatements = object.texts("legacyStatements") { digest in
            guard digest.utf8.count == 64, digest.utf8.allSatisfy({ CatalogueSyntax.isHexDigit($0) && !(0x41...0x46).contains($0) }) else {
                return "must be the SHA-256 of a statement, 64 lower-case hex digits"
            }
            return taken(digest, by: owner)
        }
        application.clients = object.optional("clients")?.array { importedClient($0, of: owner) } ?? []
    }

    private func signingKey(_ value: JsonValue, of owner: String, _ requestors: [String]) -> RequestSigningKey? {
        value.object { object in
            var key = RequestSigningKey()
            key.publicKey = object.text("publicKey")
            let isPlain = (8...64).contains(key.publicKey.utf8.count) && key.publicKey.utf8.allSatisfy(CatalogueSyntax.isLetterOrDigit)
            if !key.publicKey.isEmpty, let field = object.optional("publicKey") {
                if !isPlain { field.problem("must have 8 to 64 letters and digits") }
                if let problem = taken(key.publicKey, by: owner) { field.problem(problem) }
            }
            key.secretReference = identitySecret(object)
            key.requestorIDs = object.texts("requestors", required: true) { id in
                requestors.contains(id) ? nil : "names the requestor '\(id)', for which the application may not act"
            }
            key.disabled = !object.flag("enabled", else: true)
            key.strict = object.flag("strict")
            key.windowSeconds = object.number("window", 1...86_400)
            key.fromMilliseconds = object.date("from")
            key.untilMilliseconds = object.date("until")
            return key
        }
    }

    private func importedClient(_ value: JsonValue, of owner: String) -> ImportedClient? {
        value.object { object in
            var client = ImportedClient()
            client.clientID = object.text("clientId")
            if !client.clientID.isEmpty, let field = object.optional("clientId") {
                if client.clientID.utf8.count > 128 || !client.clientID.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) {
                    field.problem("must have 1 to 128 printable characters")
                }
                if let problem = taken(client.clientID, by: owner) { field.problem(problem) }
            }
            client.secretReference = identitySecret(object)
            return client
        }
    }

    /// Each identity stands once in all applications: its bearer is known by it.
    private func taken(_ identity: String, by owner: String) -> String? {
        if let first = identities[identity] {
            return namesOthers ? "is '\(identity)', which the application '\(first)' has already" : "is '\(identity)', which is taken"
        }
        identities[identity] = owner
        return nil
    }

    private func identitySecret(_ object: JsonObject) -> String { secretReference(object, "secret", required: true) }
}
