internal import Octets
internal import Foundation

/// The calls of rest-v1.
extension ServerCall {
    static func configuration(_ requestor: Requestor.ID, _ device: DeviceDescription) -> ServerCall {
        ServerCall(
            method: .get, path: "/api/v1/config/\(FormEncoding.encode(requestor.rawValue))",
            query: [Parameter("deviceType", device.platform.deviceType)], timeout: .seconds(10))
    }

    static func profileRequest(_ requestor: Requestor.ID, _ provider: Provider.ID, _ device: DeviceDescription) -> ServerCall {
        let path = "/api/v1/\(FormEncoding.encode(requestor.rawValue))/profile-requests/\(FormEncoding.encode(provider.rawValue))"
        return ServerCall(method: .get, path: path, query: [Parameter("deviceType", device.platform.deviceType)])
    }

    /// - Parameter response: Base64, see ``PlatformAnswerText``.
    static func exchange(_ requestor: Requestor.ID, _ provider: Provider.ID, _ response: String, _ device: DeviceDescription) -> ServerCall {
        ServerCall(
            method: .post, path: "/api/v1/tokens/authn",
            form: deviceSet(requestor, device) + [
                Parameter("mvpd", provider.rawValue), Parameter("deviceType", device.platform.deviceType), Parameter("SAMLResponse", response),
            ])
    }

    static func session(_ requestor: Requestor.ID, _ device: DeviceDescription) -> ServerCall {
        ServerCall(method: .get, path: "/api/v1/tokens/authn", query: deviceSet(requestor, device))
    }

    static func registrationCode(_ requestor: Requestor.ID, _ provider: Provider.ID, _ device: DeviceDescription) -> ServerCall {
        ServerCall(
            method: .post, path: "/reggie/v1/\(FormEncoding.encode(requestor.rawValue))/regcode",
            form: [Parameter("deviceId", device.id), Parameter("mvpd", provider.rawValue)])
    }

    /// The start of a login, opened by a browser (rest-v1 §3.7). `reg_code` comes first because `&reg` may be taken for `®`.
    static func login(
        code: String, _ requestor: Requestor.ID, _ provider: Provider.ID, domain: String, data: String? = nil, returnAddress: String
    ) -> ServerCall {
        var query = [
            Parameter("reg_code", code), Parameter("requestor_id", requestor.rawValue), Parameter("mso_id", provider.rawValue),
            Parameter("domain_name", domain), Parameter("noflash", "true"), Parameter("no_iframe", "true"),
        ]
        if let data { query.append(Parameter("generic_data", data)) }
        query.append(Parameter("redirect_url", returnAddress))
        return ServerCall(method: .get, path: "/api/v1/authenticate", query: query, carriesBearer: false)
    }

    static func tempPass(
        _ requestor: Requestor.ID, _ provider: Provider.ID, domain: String, data: String?, _ device: DeviceDescription
    ) -> ServerCall {
        var form = [
            Parameter("requestor_id", requestor.rawValue), Parameter("deviceId", device.id), Parameter("mso_id", provider.rawValue),
            Parameter("domain_name", domain),
        ]
        if let data { form.append(Parameter("generic_data", data)) }
        return ServerCall(method: .post, path: "/api/v1/authenticate/freepreview", form: form)
    }

    static func authorization(_ requestor: Requestor.ID, _ resource: Resource.ID, data: String?, _ device: DeviceDescription) -> ServerCall {
        let more = data.map { [Parameter("generic_data", $0)] } ?? []
        return ServerCall(
            method: .get, path: "/api/v1/authorize", query: deviceSet(requestor, device) + [Parameter("resource", resource.rawValue)] + more)
    }

    static func mediaToken(_ requestor: Requestor.ID, _ resource: Resource.ID, _ device: DeviceDescription) -> ServerCall {
        ServerCall(
            method: .get, path: "/api/v1/tokens/media", query: deviceSet(requestor, device) + [Parameter("resource", resource.rawValue)])
    }

    static func preauthorization(
        _ requestor: Requestor.ID, _ resources: [Resource.ID], avoidsCaches: Bool, _ device: DeviceDescription
    ) -> ServerCall {
        let list = resources.map(\.rawValue).joined(separator: ",")
        return ServerCall(
            method: .get, path: "/api/v1/preauthorize", query: deviceSet(requestor, device) + [Parameter("resource", list)],
            headers: avoidsCaches ? [HTTPHeader("Cache-Control", "no-cache")] : [])
    }

    static func userMetadata(_ requestor: Requestor.ID, _ device: DeviceDescription) -> ServerCall {
        ServerCall(method: .get, path: "/api/v1/tokens/usermetadata", query: deviceSet(requestor, device))
    }

    static func logout(_ requestor: Requestor.ID, _ device: DeviceDescription) -> ServerCall {
        ServerCall(method: .delete, path: "/api/v1/logout", query: deviceSet(requestor, device))
    }

    /// Logout as a browser makes it, which cannot send headers (rest-v1 §3.20).
    static func browserLogout(
        _ requestor: Requestor.ID, _ device: DeviceDescription, information: String, returnAddress: String, accessToken: String
    ) -> ServerCall {
        ServerCall(
            method: .get, path: "/api/v1/logout",
            query: deviceSet(requestor, device) + [
                Parameter("device_info", information), Parameter("redirect_url", returnAddress), Parameter("access_token", accessToken),
            ], carriesBearer: false)
    }

    private static func deviceSet(_ requestor: Requestor.ID, _ device: DeviceDescription) -> [Parameter] {
        [Parameter("requestor", requestor.rawValue), Parameter("deviceId", device.id)]
    }
}
