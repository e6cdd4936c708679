internal import Contracts
internal import StrictJson

extension CatalogueReading {
    func integration(_ value: JsonValue) -> Integration? {
        value.object { object in
            var integration = Integration()
            integration.requestorID = object.reference("requestor", "requestor", in: requestors)
            integration.mvpdID = object.reference("mvpd", "MVPD", in: mvpds)
            integration.enabled = object.flag("enabled", else: true)
            integration.platformSsoEnabled = object.flag("platformSso")
            integration.autoSignIn = object.flag("autoSignIn")
            integration.authnTtlSeconds = object.number("authnTtl", Self.lifetimes)
            integration.authzTtlSeconds = object.number("authzTtl", Self.lifetimes)
            integration.hbaAuthnTtlSeconds = object.number("hbaAuthnTtl", Self.lifetimes)
            integration.metadataKeys = object.optional("metadataKeys")?.array { metadataKey($0, for: integration.requestorID) } ?? []
            if !integrations.insert([OctetText(integration.requestorID), OctetText(integration.mvpdID)]).inserted {
                object.problem("is a second integration of '\(integration.requestorID)' with '\(integration.mvpdID)'")
            }
            integration.preflightMaxResources = object.number("preflightMaxResources", Self.preflightLimits)
            checkLifetimes(object, authn: integration.authnTtlSeconds, hba: integration.hbaAuthnTtlSeconds)
            integration.platformOverrides = overrides(object, of: mvpds[integration.mvpdID], isIntegration: true)
            integration.oauthClient = oauthClient(object, of: mvpds[integration.mvpdID])
            checkPlatform(object, integration)
            integration.bridge = integrationBridge(object, of: integration)
            if integration.bridge != nil { bridged.insert([OctetText(integration.requestorID), OctetText(integration.mvpdID)]) }
            return integration
        }
    }

    private func checkPlatform(_ object: JsonObject, _ integration: Integration) {
        guard integration.platformSsoEnabled, let mvpd = mvpds[integration.mvpdID], !supportsSingleSignOn(mvpd, .all) else { return }
        object.optional("platformSso")?.problem("is on, but the MVPD '\(mvpd.id)' supports it on no platform")
    }

    /// `"userID"`, or an object where the value is to be encrypted.
    private func metadataKey(_ value: JsonValue, for requestor: String) -> MetadataKey? {
        var key = MetadataKey()
        if value.isString {
            key.key = value.string() ?? ""
        } else {
            guard let read = value.object({ MetadataKey(key: $0.text("key"), encrypted: $0.flag("encrypted")) }) else { return nil }
            key = read
        }
        if !key.key.isEmpty, !CatalogueSyntax.isMetadataKey(key.key) { value.problem("must be a metadata key such as 'userID'; it is '\(key.key)'") }
        if key.key == "zip", !key.encrypted { value.problem("must be encrypted: 'zip' is sensitive (mvpd §1.2)") }
        if key.encrypted, completeness == .whole, let requestor = requestors[requestor] { checkEncryption(value, requestor) }
        return key
    }
}
