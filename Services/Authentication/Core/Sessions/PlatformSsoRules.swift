package import Catalogue
package import Contracts
package import Faults
package import SamlExplanation

/// A platform's login may stand for one at the MVPD under these rules (rest-v1 §3.12, §3.13).
package enum PlatformSsoRules {
    /// The name under which the NameID may be asked for like an attribute.
    package static let nameID = "NameID"

    /// - Parameter deviceType: `iOS` or `tvOS`, exactly.
    /// - Throws: `invalid_request`.
    package static func platform(deviceType: String) throws(Fault) -> Platform {
        switch deviceType {
        case "iOS": return .ios
        case "tvOS": return .tvos
        case "": throw Fault(.invalidRequest, "Required 'deviceType' is not present")
        default: throw Fault(.invalidRequest, "The 'deviceType' is neither 'iOS' nor 'tvOS'.")
        }
    }

    /// - Parameter integration: With the values of the platform put in place.
    /// - Throws: `invalid_request` unless sign-in by the platform is on for the pair and the platform signs people in at the MVPD.
    package static func requireOn(_ integration: Integration, _ mvpd: Mvpd, _ platform: Platform) throws(Fault) -> PlatformSettings {
        let settings = mvpd.platforms.first { $0.platform == platform }
        guard let settings, integration.platformSsoEnabled, settings.enablePlatformServices, settings.boardingStatus == .supported else {
            throw Fault(.invalidRequest, "The MVPD does not sign people in by this platform here.")
        }
        return settings
    }

    /// - Throws: `invalid_request` for an MVPD that signs people in by anything but SAML: no platform carries that.
    package static func provider(_ mvpd: Mvpd, in catalogue: Catalogue) throws(Fault) -> SamlProvider {
        guard let provider = try? SamlProvider(mvpd, in: catalogue) else {
            throw Fault(.invalidRequest, "The MVPD does not sign people in by this platform here.")
        }
        return provider
    }

    /// The attributes among the required metadata fields.
    package static func attributeNames(_ settings: PlatformSettings) -> [String] { settings.requiredMetadataFields.filter { $0 != nameID } }
}
