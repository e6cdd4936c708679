internal import SandboxKit
internal import Clocks

/// The MVPD's answer to a platform: a compact SAML response, or one with a flaw.
struct PlatformAnswer {
    let provider: IdentityProvider
    /// MVPDs with keys of their own.
    let others: [IdentityProvider]
    let request: AuthnRequest
    let account: PlatformAccount
    let attributeNames: [String]
    let now: Timestamp

    /// - Throws: `RequestRefusal` when the account's person is no subscriber; `XmlRefusal` when the answer cannot be signed.
    func text() throws -> String {
        guard let person = provider.subscribers.person(named: account.person), !person.loginFails else {
            throw RequestRefusal("subscriber.unknown", "“\(account.person)” is no subscriber of \(provider.id).")
        }
        let response = response()
        if account.flaw == .declined { return try response.failure(.authnFailed) }
        let session = ProviderSession(person: person.name, signedInAt: response.now, index: RandomIdentifier.next())
        return laidOut(try response.success(person, session: session, format: .persistent))
    }

    private func response() -> SamlResponse {
        var provider = provider
        var request = request
        switch account.flaw {
        case .unsigned: (provider.settings.signAssertion, provider.settings.signResponse) = (false, false)
        case .foreignSigner:
            if let other = others.first { (provider.key, provider.certificate) = (other.key, other.certificate) }
        case .foreignRequest: request.identifier = RandomIdentifier.next()
        case .foreignAudience: request.issuer += "-else"
        default: break
        }
        var response = SamlResponse(
            provider: provider, request: request, now: account.flaw == .stale ? now - .seconds(3600) : now)
        let asked = attributeNames + (request.queriedAttributes ?? []).filter { !attributeNames.contains($0) }
        response.attributeNames = Set(account.flaw == .missingAttribute ? Array(asked.dropFirst()) : asked)
        response.breaksLines = account.flaw == .prettyPrinted
        return response
    }

    private func laidOut(_ text: String) -> String {
        switch account.flaw {
        case .surroundingSpace: "\n  \(text)\t\n"
        case .brokenAttributes: text.replacingFirst(" ID=\"", with: "\nID=\"")
        default: text
        }
    }
}

extension String {
    fileprivate func replacingFirst(_ part: String, with other: String) -> String {
        guard let range = firstRange(of: part) else { return self }
        return replacingCharacters(in: range, with: other)
    }
}
