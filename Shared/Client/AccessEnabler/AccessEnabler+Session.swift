internal import EntitlementClient
internal import Foundation
internal import Octets

extension AccessEnabler {
    /// Changes what is sent with each later call: `applicationProfile`, `visitorID`, `handleSVC`, `device_info`.
    public func setOptions(_ options: [AnyHashable: Any]!) {
        let options = GivenValue.object(options ?? [:])
        run { $0.setOptions(options) }
    }

    /// Ends with `setRequestorComplete`.
    public func setRequestor(_ requestorID: String!) { set(requestorID, nil, signer: nil) }

    /// - Parameter serviceProviders: Texts or addresses, with or without a scheme (then `https`) and the path `/adobe-services`. Where one of them is no
    ///   address, `status` tells so (CFG404), then `setRequestorComplete` reports an error.
    public func setRequestor(_ requestorID: String!, serviceProviders: [Any]!) { set(requestorID, serviceProviders, signer: nil) }

    /// Until version 3.0. The servers do not need the signature of the requestor's id: it is ignored.
    public func setRequestor(_ requestorID: String!, signedRequestorID: String!) { set(requestorID, nil, signer: nil) }

    /// Until version 3.0. The servers do not need the signature of the requestor's id: it is ignored.
    /// - Parameters:
    ///   - requestorID: Id of the requestor; without one, `status` tells so (CFG400), then `setRequestorComplete` reports an error.
    ///   - signedRequestorID: Ignored.
    ///   - serviceProviders: As of ``setRequestor(_:serviceProviders:)``.
    public func setRequestor(_ requestorID: String!, signedRequestorID: String!, serviceProviders: [Any]!) {
        set(requestorID, serviceProviders, signer: nil)
    }

    /// Until version 3.0 on tvOS: each call is signed with this pair.
    /// - Parameters:
    ///   - requestorID: Id of the requestor; without one, `status` tells so (CFG400), then `setRequestorComplete` reports an error.
    ///   - signedRequestorID: Ignored.
    ///   - secret: Secret of the pair, for the HMAC of each call.
    ///   - publicKey: Public part of the pair: names it at the server.
    public func setRequestor(_ requestorID: String!, signedRequestorID: String!, secret: String!, publicKey: String!) {
        set(requestorID, nil, signer: (secret, publicKey))
    }

    /// Until version 3.0 on tvOS: each call is signed with this pair.
    /// - Parameters:
    ///   - requestorID: Id of the requestor; without one, `status` tells so (CFG400), then `setRequestorComplete` reports an error.
    ///   - signedRequestorID: Ignored.
    ///   - serviceProviders: As of ``setRequestor(_:serviceProviders:)``.
    ///   - secret: Secret of the pair, for the HMAC of each call.
    ///   - publicKey: Public part of the pair: names it at the server.
    public func setRequestor(_ requestorID: String!, signedRequestorID: String!, serviceProviders: [Any]!, secret: String!, publicKey: String!) {
        set(requestorID, serviceProviders, signer: (secret, publicKey))
    }

    /// Until version 3.0 on tvOS: each call is signed with this pair, see ``setRequestor(_:signedRequestorID:secret:publicKey:)``.
    public func setRequestor(_ requestorID: String!, secret: String!, publicKey: String!) { set(requestorID, nil, signer: (secret, publicKey)) }

    /// Until version 3.0 on tvOS: each call is signed with this pair.
    /// - Parameters:
    ///   - requestorID: Id of the requestor; without one, `status` tells so (CFG400), then `setRequestorComplete` reports an error.
    ///   - serviceProviders: As of ``setRequestor(_:serviceProviders:)``.
    ///   - secret: Secret of the pair, for the HMAC of each call.
    ///   - publicKey: Public part of the pair: names it at the server.
    public func setRequestor(_ requestorID: String!, serviceProviders: [Any]!, secret: String!, publicKey: String!) {
        set(requestorID, serviceProviders, signer: (secret, publicKey))
    }

    private func set(_ requestorID: String?, _ serviceProviders: [Any]?, signer: (secret: String?, publicKey: String?)?) {
        let servers = ServiceProviders.addresses(serviceProviders) ?? PlatformEnvironment.server.map { [$0] }
        guard let requestorID, !requestorID.isEmpty else { return refuseRequestor(.badRequestor, "no requestor is named") }
        guard let servers else { return refuseRequestor(.serversNotFound, ServiceProviders.problem(serviceProviders)) }
        var pair: RequestSigner?
        if let signer {
            guard let secret = signer.secret, let publicKey = signer.publicKey, !secret.isEmpty, !publicKey.isEmpty else {
                return refuseRequestor(.noAccessToken, "the key pair lacks its secret or its public key")
            }
            pair = RequestSigner(requestor: requestorID, publicKey: publicKey, secret: secret)
        }
        run { [pair] client in
            client.setSigner(pair)
            client.setRequestor(requestorID, serviceProviders: servers)
        }
    }

    /// An advanced code with the reason comes before the end of the operation, as after a server's refusal (client-sdk §1.3).
    private func refuseRequestor(_ code: StatusCode, _ reason: String) {
        let status = Status(code, details: reason)
        tellStatus(status.dictionary)
        tell { $0.setRequestorComplete(ACCESS_ENABLER_STATUS_ERROR) }
    }

    /// Ends with `setAuthenticationStatus`.
    public func checkAuthentication() { run { $0.checkAuthentication() } }

    /// Signs a person in; ends with `setAuthenticationStatus`.
    public func getAuthentication() { run { $0.getAuthentication(providers: nil) } }

    /// - Parameter filter: Lists of ids under ``TV_PROVIDERS`` and ``FEATURED_TV_PROVIDERS``.
    public func getAuthentication(_ filter: [AnyHashable: Any]!) { getAuthentication(false, withData: nil, andFilter: filter) }

    /// - Parameter filter: Ids of the providers of the platform's picker.
    public func getAuthentication(_ filter: [Any]!) { getAuthentication(false, withData: nil, andFilter: filter) }

    /// - Parameters:
    ///   - forceAuthn: Sign in even if the device is signed in already.
    ///   - data: Pairs for the server.
    public func getAuthentication(_ forceAuthn: Bool, withData data: [AnyHashable: Any]!) {
        let data = GivenValue.texts(data)
        run { $0.getAuthentication(force: forceAuthn, data: data, providers: nil) }
    }

    /// Signs a person in; ends with `setAuthenticationStatus`.
    /// - Parameters:
    ///   - forceAuthn: Sign in even if the device is signed in already.
    ///   - data: Pairs for the server.
    ///   - filter: Lists of ids under ``TV_PROVIDERS`` and ``FEATURED_TV_PROVIDERS``.
    public func getAuthentication(_ forceAuthn: Bool, withData data: [AnyHashable: Any]!, andFilter filter: [AnyHashable: Any]!) {
        let (data, lists) = (GivenValue.texts(data), GivenValue.lists(filter))
        run { $0.getAuthentication(force: forceAuthn, data: data, filter: lists) }
    }

    /// Signs a person in; ends with `setAuthenticationStatus`.
    /// - Parameters:
    ///   - forceAuthn: Sign in even if the device is signed in already.
    ///   - data: Pairs for the server.
    ///   - filter: Ids of the providers of the platform's picker.
    public func getAuthentication(_ forceAuthn: Bool, withData data: [AnyHashable: Any]!, andFilter filter: [Any]!) {
        let (data, providers) = (GivenValue.texts(data), filter.map(GivenValue.texts))
        run { $0.getAuthentication(force: forceAuthn, data: data, providers: providers) }
    }

    /// Answers the app's own picker with the person's choice; `nil` cancels the sign-in.
    public func setSelectedProvider(_ providerID: String!) {
        let id: String? = providerID.flatMap { $0.isEmpty ? nil : $0 }
        run { $0.setSelectedProvider(id) }
    }

    /// Hands over the address at which the page of `navigate(toUrl:)` ended; any other address is ignored.
    public func handleExternalURL(_ url: String!) {
        guard let address = (url as String?).flatMap(URL.init(string:)) else { return }
        run { $0.handleExternalURL(address) }
    }

    /// Until version 3.0: tells that the page has reached ``ADOBEPASS_REDIRECT_URL``.
    public func getAuthenticationToken() {
        guard let address = URL(string: ADOBEPASS_REDIRECT_URL) else { return }
        run { $0.handleExternalURL(address) }
    }

    /// Ends with `setAuthenticationStatus`, status 0.
    public func logout() { run { $0.logout() } }

    /// Ends with `selectedProvider`.
    public func getSelectedProvider() { run { $0.getSelectedProvider() } }
}

extension AccessEnabler {
    /// Ends with `preauthorizedResources`.
    public func checkPreauthorizedResources(_ resources: [Any]!) { checkPreauthorizedResources(resources, cache: true) }

    /// - Parameter cache: False: no kept answer is used.
    public func checkPreauthorizedResources(_ resources: [Any]!, cache: Bool) {
        let ids = GivenValue.texts(resources ?? [])
        guard !ids.isEmpty else { return tell { $0.preauthorizedResources([]) } }
        run { $0.checkPreauthorizedResources(ids, cache: cache) }
    }

    /// Ends with `setToken` or `tokenRequestFailed`; fails if the device is not signed in.
    public func checkAuthorization(_ resource: String!) { checkAuthorization(resource, withData: nil) }

    /// - Parameter data: Pairs for the server.
    public func checkAuthorization(_ resource: String!, withData data: [AnyHashable: Any]!) {
        let data = GivenValue.texts(data)
        guard let resource = required(resource) else { return }
        run { $0.checkAuthorization(resource, data: data) }
    }

    /// As `checkAuthorization`; if the device is not signed in, the person signs in first.
    public func getAuthorization(_ resource: String!) { getAuthorization(resource, withData: nil) }

    /// - Parameter data: Pairs for the server.
    public func getAuthorization(_ resource: String!, withData data: [AnyHashable: Any]!) {
        let data = GivenValue.texts(data)
        guard let resource = required(resource) else { return }
        run { $0.getAuthorization(resource, data: data) }
    }

    private func required(_ resource: String?) -> String? {
        if let resource, !resource.isEmpty { return resource }
        tell { $0.tokenRequestFailed(resource ?? "", errorCode: GENERIC_AUTHORIZATION_ERROR, errorDescription: "") }
        return nil
    }

    /// Ends with `setMetadataStatus`, which gets these arguments back.
    /// - Parameter arguments: ``METADATA_OPCODE_KEY``, and the key that goes with it.
    public func getMetadata(_ arguments: [AnyHashable: Any]!) {
        let given: [AnyHashable: Any] = arguments ?? [:]
        var object = GivenValue.object(given)
        object[GivenArguments.mark] = .integer(givenArguments.keep(given))
        run { [object] in $0.getMetadata(object) }
    }

    /// Ends with exactly one call of the callback, which is kept until then.
    public func preauthorize(_ request: PreauthorizeRequest!, callback: (any AccessEnablerCallback)!) {
        guard let callback else { return }
        let ids = request?.resources ?? []
        let disabled = Set((request?.disabledFeatures ?? []).compactMap(PreauthorizationFeature.init))
        let adapter = PreauthorizeAdapter(callback)
        run { $0.preauthorize(ClientPreauthorizeRequest(resources: ids, disabledFeatures: disabled), callback: adapter) }
    }
}
