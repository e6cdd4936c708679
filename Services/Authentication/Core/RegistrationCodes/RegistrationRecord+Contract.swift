internal import Catalogue
internal import Contracts

extension RegistrationRecord {
    /// How a caller learns the device of a code (rest-v1 §2.2, §3.5).
    enum ShownDevice {
        /// Without an access token for the requestor: not at all.
        case hidden
        /// A client of the requestor: a keyed digest that is the same each time and opens nothing.
        case hashed(String)
        /// The code's maker.
        case plain

        var isHidden: Bool { if case .hidden = self { true } else { false } }

        fileprivate func id(_ device: DeviceID) -> String {
            switch self {
            case .hidden: ""
            case .hashed(let digest): digest
            case .plain: device.text
            }
        }
    }

    /// - Parameters:
    ///   - application: The one that made the code; `nil` when its software statement was revoked.
    ///   - device: How much of the device the caller learns.
    func contract(in catalogue: Catalogue, application: Application?, device shown: ShownDevice) -> RegistrationCode {
        let configured = catalogue.requestor(requestor.text)?.registrationURL ?? ""
        return RegistrationCode(
            id: id.text, code: code.text, requestor: requestor.text, mvpd: mvpd,
            generatedAtMilliseconds: UInt64(clamping: generatedAt.milliseconds),
            expiresAtMilliseconds: UInt64(clamping: expiresAt.milliseconds), deviceID: shown.id(deviceID),
            device: shown.isHidden ? nil : device, userAgent: userAgent, originalUserAgent: userAgent, deviceType: deviceType,
            deviceUser: claims.deviceUser, appID: claims.appID, registrationURL: registrationURL.isEmpty ? configured : registrationURL,
            applicationID: application?.id ?? "", applicationName: application?.name ?? "", applicationVersion: application?.version ?? "",
            used: isUsed, deviceLabel: device.label, domainName: domainName, redirectURL: redirectURL)
    }
}
