internal import Catalogue
internal import Contracts

extension RegistrationRecord {
    /// - Parameters:
    ///   - application: The one that made the code; `nil` when its software statement was revoked.
    ///   - showsDevice: False for a caller without an access token for the requestor: it may not learn the device (rest-v1 §2.2).
    func contract(in catalogue: Catalogue, application: Application?, showsDevice: Bool) -> RegistrationCode {
        let configured = catalogue.requestor(requestor.text)?.registrationURL ?? ""
        return RegistrationCode(
            id: id.text, code: code.text, requestor: requestor.text, mvpd: mvpd,
            generatedAtMilliseconds: UInt64(clamping: generatedAt.milliseconds),
            expiresAtMilliseconds: UInt64(clamping: expiresAt.milliseconds), deviceID: showsDevice ? deviceID.text : "",
            device: showsDevice ? device : nil, userAgent: userAgent, originalUserAgent: userAgent, deviceType: deviceType,
            deviceUser: claims.deviceUser, appID: claims.appID, registrationURL: registrationURL.isEmpty ? configured : registrationURL,
            applicationID: application?.id ?? "", applicationName: application?.name ?? "", applicationVersion: application?.version ?? "",
            used: isUsed)
    }
}
