/// The dimension that splits a report (rest-v2 §7), under its public name.
enum UsageDimension: String, CaseIterable, Sendable {
    case year, month, day, hour, minute
    case mediaCompany = "media-company"
    case dc, proxy, mvpd
    case requestorID = "requestor-id"
    case channel
    case resourceID = "resource-id"
    case device, eap
    case osFamily = "os-family"
    case browserFamily = "browser-family"
    case cdt
    case platformVersion = "platform-version"
    case osType = "os-type"
    case browserVersion = "browser-version"
    case nsdk
    case nsdkVersion = "nsdk-version"
    case event, reason
    case ssoType = "sso-type"
    case platform
    case applicationName = "application-name"
    case applicationVersion = "application-version"
    case applicationSoftwareID = "application-software-id"
    case customerApp = "customer-app"
    case contentCategory = "content-category"
    case api
    case decisionType = "decision-type"
    case arch

    /// Coarsest first; a path has them in this order, without a gap.
    static let ofTime: [UsageDimension] = [.year, .month, .day, .hour, .minute]

    var isOfTime: Bool { Self.ofTime.contains(self) }
}
