internal import CommandKit
internal import EntitlementClient
internal import Foundation

/// The answers of REST v2, as its documents have them (rest-v2 §2, §4). Apps ignore what they do not know.
package enum V2 {
    /// 2.1
    struct Configuration: Decodable, Sendable {
        struct Requestor: Decodable, Sendable {
            let id: String
            let name: String
            let domains: [Domain]
            let mvpds: [Mvpd]
        }

        struct Domain: Decodable, Sendable {
            let name: String
        }

        struct Mvpd: Decodable, Sendable {
            let id: String
            let displayName: String
            let isTempPass: Bool?
            let boardingStatus: String?
            let platformMappingId: String?
            let enablePlatformServices: Bool?
        }

        let device: String
        let requestor: Requestor
    }

    /// 2.2, 2.3 and 2.12.
    package struct Session: Decodable, Sendable {
        enum Action: String, Decodable, Sendable {
            case authenticate, resume, retry, authorize
            case partnerProfile = "partner_profile"
        }

        package struct Request: Decodable, Sendable {
            let type: String
            /// Base64.
            package let request: String
            let attributesNames: [String]
        }

        let actionName: Action
        let actionType: String
        let reasonType: String
        let missingParameters: [String]?
        /// Relative to the server's root.
        let url: String?
        let code: String?
        let sessionId: String
        let serviceProvider: String
        let mvpd: String?
        /// Milliseconds since 1970, as digits.
        let notBefore: String?
        let notAfter: String?
        package let authenticationRequest: Request?
    }

    /// 2.4
    struct SessionRecord: Decodable, Sendable {
        struct Parameters: Decodable, Sendable {
            let serviceProvider: String
            let mvpd: String?
            let domainName: String?
            let redirectUrl: String?
        }

        let existingParameters: Parameters
        let missingParameters: [String]?
        let notBefore: String
        let notAfter: String
    }

    /// 2.6 to 2.8, 2.13.
    struct Profiles: Decodable, Sendable {
        let profiles: [String: Profile]
    }

    struct Profile: Decodable, Sendable {
        struct Attribute: Decodable, Sendable {
            /// `nil` where it has an error in its place (clients §4.12).
            let value: Value?
            /// `plain`, `enc` or `encrypted`.
            let state: String
        }

        /// Milliseconds since 1970.
        let notBefore: Int64
        let notAfter: Int64
        let issuer: String
        let type: String
        let attributes: [String: Attribute]
    }

    /// A scalar, a list or a map.
    enum Value: Decodable, Sendable, CustomStringConvertible {
        case text(String)
        case number(Double)
        case flag(Bool)
        case list([Value])
        case map([String: Value])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let list = try? container.decode([Value].self) {
                self = .list(list)
            } else {
                self = .map(try container.decode([String: Value].self))
            }
        }

        var description: String {
            switch self {
            case .text(let text): text
            case .number(let number): number == number.rounded() ? String(format: "%.0f", number) : "\(number)"
            case .flag(let flag): "\(flag)"
            case .list(let list): list.map(\.description).joined(separator: ", ")
            case .map(let map): map.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
            }
        }
    }

    /// 2.9 and 2.10.
    struct Decisions: Decodable, Sendable {
        let decisions: [Decision]
    }

    package struct Decision: Decodable, Sendable {
        struct Token: Decodable, Sendable {
            let notBefore: Int64
            let notAfter: Int64
            /// Base64.
            let serializedToken: String
        }

        let resource: String
        let serviceProvider: String
        let mvpd: String
        package let authorized: Bool
        let source: String
        let token: Token?
        package let error: Failure?
    }

    /// 2.11
    struct Logouts: Decodable, Sendable {
        struct Logout: Decodable, Sendable {
            enum Action: String, Decodable, Sendable {
                case logout, complete, invalid
                case partnerLogout = "partner_logout"
            }

            let actionName: Action
            let actionType: String
            let mvpd: String
            let url: String?
        }

        let logouts: [String: Logout]
    }

    /// 2.14
    struct ServiceToken: Decodable, Sendable {
        let status: String
        let serviceToken: String
    }

    /// 2.14
    struct ServiceLink: Decodable, Sendable {
        let status: String
        let code: String
    }

    /// 2.14
    struct WrappedFailure: Decodable, Sendable {
        let error: Failure
    }

    /// §3, of an answer or of one decision.
    package struct Failure: Decodable, Sendable {
        let action: String
        let status: Int
        let code: String
        let message: String
        let details: String?
    }
}

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

/// A flow is played here: shows its steps, and a code while somebody has to sign in with it.
protocol V2Stage: Sendable {
    /// - Parameter took: Zero: what was learnt without a call of its own.
    func step(_ text: String, took: Duration) async
    func show(_ code: RegistrationCode) async
    /// The verified media token of a channel.
    func play(_ channel: String, _ report: MediaTokenReport) async
    /// Where a person is to go with a browser.
    func open(_ address: String) async
}

/// Lines of a terminal.
struct V2Lines: V2Stage {
    let console: Console
    let gateway: String
    let hasQrCode: Bool

    func step(_ text: String, took: Duration) {
        guard took == .zero else { return console.step(text, took: took) }
        // As wide as a step's mark and time.
        console.line(String(repeating: " ", count: 15) + text)
    }

    func show(_ code: RegistrationCode) {
        CodeText(code, gateway: gateway).lines(console, hasQrCode: hasQrCode).forEach { console.line($0) }
    }

    func play(_ channel: String, _ report: MediaTokenReport) {
        report.rows.forEach { console.line("            \(console.faint($0.name)) \($0.value)") }
    }

    func open(_ address: String) { console.line("\n  Open  \(console.bold(address))\n") }
}
