internal import Octets
internal import EntitlementClient
internal import Foundation

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
