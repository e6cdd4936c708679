internal import Contracts
internal import FoundationEssentials
internal import GatewayEdge

/// The record of a registration code (rest-v1 §3.4).
struct RegistrationCodeDocument {
    static let namespace = "model.mvc.reggie.pass.adobe.com"

    let code: RegistrationCode
    /// A person types the code here when the app named no page.
    let loginPage: String

    var document: Document {
        Document(
            "regcode", namespace: Self.namespace,
            [
                .init("id", .text(code.id)), .init("code", .text(code.code)), .init("requestor", .text(code.requestor)),
                .init("mvpd", .optional(code.mvpd), only: .json), .init("mvpd", .text(code.mvpd), only: .xml),
                .init("generated", .number(code.generatedAtMilliseconds)), .init("expires", .number(code.expiresAtMilliseconds)),
                .init("info", .object(info)),
            ])
    }

    /// The published schema allows only the device id and the last row in XML; JSON carries all.
    private var info: [Document.Member] {
        var members: [Document.Member] = [.init("deviceId", .text(Self.base64(Array(code.deviceID.utf8))))]
        if let device = code.device {
            members.append(.init("deviceInfo", .text(Self.base64(DeviceDocument(device).value.jsonBytes)), only: .json))
        }
        members += [
            .init("userAgent", .text(code.userAgent), only: .json),
            .init("originalUserAgent", .text(code.originalUserAgent), only: .json),
            .init("authorizationType", .text("OAUTH2"), only: .json),
            .init("sourceApplicationInformation", .object(application), only: .json),
        ]
        let optional = [
            ("deviceType", code.deviceType), ("deviceUser", code.deviceUser), ("appId", code.appID), ("appVersion", code.appVersion),
            ("registrationURL", code.registrationURL.isEmpty ? loginPage : code.registrationURL),
        ]
        return members + optional.filter { !$0.1.isEmpty }.map { Document.Member($0.0, .text($0.1)) }
    }

    private var application: [Document.Member] {
        [
            .init("id", .text(code.applicationID)), .init("name", .text(code.applicationName)),
            .init("version", .text(code.applicationVersion)),
        ]
    }

    private static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
