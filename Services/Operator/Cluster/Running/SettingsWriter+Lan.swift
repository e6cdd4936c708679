internal import CommandKit
internal import Foundation

/// A cluster that phones and televisions of its network can open: its gateway for browsers and apps is HTTPS at the machine's address, and so is the
/// stand-in MVPD. The gateway's plain HTTP, administration, metrics and the services stay on loopback.
///
/// It is HTTPS because a browser keeps no cookie of a sign-in that comes over plain HTTP from another machine, and the gateway sends none.
extension SettingsWriter {
    /// Addresses that only servers of this machine call.
    private static let betweenServers = ["notificationURL"]

    /// Documented settings in which browsers find the gateway at its address in the network.
    func opened(_ value: Any, key: String = "") -> Any {
        guard let lan else { return value }
        switch value {
        case let object as [String: Any]: return Dictionary(uniqueKeysWithValues: object.map { ($0, opened($1, key: $0)) })
        case let list as [Any]: return list.map { opened($0, key: key) }
        case let text as String:
            let inside = "http://127.0.0.1:\(PortPlan(base: nil).main(.gateway))"
            guard text == inside || text.hasPrefix(inside + "/"), !Self.betweenServers.contains(key) else { return text }
            return "https://\(lan):\(ports.https)" + text.dropFirst(inside.count)
        default: return value
        }
    }

    /// Gives the programs that browsers reach their listeners in the network.
    func open(_ settings: inout [String: Any], of service: ClusterService) {
        guard let lan else { return }
        let name = LocalPki.lanName(lan)
        switch service {
        case .gateway:
            var own = settings["gateway"] as? [String: Any] ?? [:]
            own["insecureCookies"] = nil
            var tls = own["tls"] as? [String: Any] ?? [:]
            tls["listen"] = "\(lan):\(ports.https)"
            if https == nil { (tls["certificate"], tls["key"]) = (pki.path("\(name).crt"), pki.path("\(name).key")) }
            own["tls"] = tls
            var throttle = own["throttle"] as? [String: Any] ?? [:]
            // The simulated devices of this machine come from there, too.
            throttle["exempt"] = (throttle["exempt"] as? [String] ?? []) + [lan]
            own["throttle"] = throttle
            // Browsers and the gateway reach the stand-in for the staff's sign-in by two names, which one issuer cannot have.
            own["admin"] = (own["admin"] as? [String: Any])?.filter { $0.key != "openIDConnect" }
            settings["gateway"] = own
        case .sandbox:
            settings["listen"] = ["address": "0.0.0.0", "port": ports.main(.sandbox)]
            settings["publicURL"] = "https://\(lan):\(ports.main(.sandbox))"
            settings["serviceURL"] = "http://127.0.0.1:\(ports.main(.sandbox))"
            settings["tls"] = ["certificate": pki.path("\(name).crt"), "key": pki.path("\(name).key")]
            settings["staff"] = nil
        default: break
        }
    }
}

/// The demo catalogue in a network in which browsers and services reach the stand-in MVPD at two addresses.
enum DemoCatalogue {
    /// What an MVPD's test user does on a schedule.
    private static let testSignIn = "testSignIn"

    /// The same text without scheduled sign-ins, each of which is a line there.
    static func untested(_ template: String) -> String {
        template.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.contains("\"\(testSignIn)\":") }.joined(separator: "\n")
    }

    /// Addresses that services call.
    private static let ofServices = ["url", "tokenUrl", "profileUrl", "jwksUrl"]

    /// - Parameters:
    ///   - template: JSON with `${SANDBOX_MVPD}` in place of the stand-in's base URL.
    ///   - browsers: Base URL for browsers.
    ///   - services: Base URL for services.
    static func placed(_ template: Any, browsers: String, services: String, key: String = "") -> Any {
        switch template {
        case let object as [String: Any]:
            // Services there do not reach what browsers do: nobody could play a test user's.
            Dictionary(
                uniqueKeysWithValues: object.filter { $0.key != testSignIn }.map { ($0, placed($1, browsers: browsers, services: services, key: $0)) }
            )
        case let list as [Any]: list.map { placed($0, browsers: browsers, services: services, key: key) }
        case let text as String:
            text.replacingOccurrences(of: "${SANDBOX_MVPD}", with: ofServices.contains(key) ? services : browsers)
        default: template
        }
    }
}
