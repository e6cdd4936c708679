internal import Foundation

/// `AP-Partner-Framework-Status` of a device that is signed in, and whose person lets the app know (rest-v2 §1.3).
package enum V2PartnerStatus {
    private static let life: TimeInterval = 86_400

    /// - Parameter provider: The platform's name of the MVPD.
    static func json(provider: String) -> String {
        let end = Int64((Date().timeIntervalSince1970 + life) * 1000)
        return #"{"frameworkPermissionInfo":{"accessStatus":"granted"},"frameworkProviderInfo":{"id":"\#(provider)","expirationDate":"\#(end)"}}"#
    }

    package static func header(provider: String) -> String { Data(json(provider: provider).utf8).base64EncodedString() }
}
