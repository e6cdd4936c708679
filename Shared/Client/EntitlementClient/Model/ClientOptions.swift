internal import Octets

/// Values that are sent with each call and may change at any time (client-sdk §1.3, `setOptions`).
public struct ClientOptions: Sendable, Hashable {
    /// Which of the app's profiles is in use, for the server's statistics; version 1 of the API only.
    public var applicationProfile: String?
    /// The visitor's id in the app's analytics (`ap_vi`, `AP-Visitor-Identifier`).
    public var visitorID: String?
    /// The app presents Safari's view controller itself when a provider requires it.
    public var handlesSafariViewController: Bool
    /// Base64 of a JSON object (rest-v1 §2.4). It replaces the library's own description of the device.
    public var deviceInformation: String?

    /// - Parameters:
    ///   - applicationProfile: `nil`: none is sent.
    ///   - visitorID: `nil`: none is sent.
    ///   - handlesSafariViewController: True when the app presents Safari's view controller itself.
    ///   - deviceInformation: Base64 of a JSON object (rest-v1 §2.4); `nil`: the library describes the device.
    public init(
        applicationProfile: String? = nil, visitorID: String? = nil, handlesSafariViewController: Bool = false, deviceInformation: String? = nil
    ) {
        self.applicationProfile = applicationProfile
        self.visitorID = visitorID
        self.handlesSafariViewController = handlesSafariViewController
        self.deviceInformation = deviceInformation
    }
}
