internal import Catalogue
public import Contracts

extension UsageDimensions {
    /// Longest text, in octets.
    public static let longestText = 128

    /// The device's own description; its address, its user and its id are none of it.
    public init(requestor: String, mvpd: String, device: DeviceInformation) {
        self.init(
            requestorID: requestor, mvpdID: mvpd, device: Self.short(device.type), osFamily: Self.short(device.osFamily),
            osType: Self.short(device.osName), osVersion: Self.short(device.osVersion), browserFamily: Self.short(device.browserName),
            browserVersion: Self.short(device.browserVersion), platform: device.platform, applicationID: Self.short(device.registeredApplication),
            customerApplication: Self.short(device.applicationID), api: device.calledApi == .v2 ? .restV2 : .restV1)
    }

    /// A text that is longer than what is kept tells nothing.
    public static func short(_ text: String) -> String { text.utf8.count <= longestText ? text : "other" }

    /// The dimensions that are left where there is no room to tell more apart.
    var other: UsageDimensions { UsageDimensions(requestorID: requestorID, mvpdID: mvpdID, api: api, isOther: true) }
}
