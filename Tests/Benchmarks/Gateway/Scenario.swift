import BoxofficeCommand
import Foundation
import TextEncodings

/// One operation under load, with the goal that it is measured by.
struct Scenario {
    /// What the rate is held against.
    enum Measure {
        /// The bare server's rate in the same pair of runs.
        case hello
        /// The rate of bare signatures in the same pair of runs.
        case signatures(SignatureSpeed.Algorithm)
    }

    let name: String
    let measure: Measure
    /// Least ratio.
    let goal: Double
    /// HTTP status of a good answer.
    let status: Int
    let requests: RequestFile

    private static let agent = ("User-Agent", "boxoffice-device")
    private static let json = ("Accept", "application/json")

    /// All of them.
    /// - Parameters:
    ///   - reference: Devices of a requestor whose media tokens have the reference form.
    ///   - jws: Devices of one whose media tokens have the JWS form.
    static func all(reference: Fleet, jws: Fleet) -> [Scenario] {
        [
            Scenario(name: "MVPD list", measure: .hello, goal: 0.5, status: 200, requests: lists(reference)),
            Scenario(name: "checkauthn", measure: .hello, goal: 0.5, status: 200, requests: checks(reference)),
            Scenario(name: "registration code", measure: .hello, goal: 0.2, status: 201, requests: codes(reference)),
            Scenario(name: "media token, ES256", measure: .signatures(.ecdsaP256), goal: 0.4, status: 200, requests: tokens(jws)),
            Scenario(name: "media token, reference", measure: .signatures(.rsa2048), goal: 0.85, status: 200, requests: tokens(reference)),
            Scenario(name: "redeem, new device", measure: .hello, goal: 0.4, status: 200, requests: redeems(reference, onNewDevices: true)),
            Scenario(name: "redeem, same device", measure: .hello, goal: 0.4, status: 200, requests: redeems(reference, onNewDevices: false)),
        ]
    }

    static func hello() -> RequestFile {
        var file = RequestFile()
        file.add("GET", "/hello", headers: [json, agent])
        return file
    }

    private static func headers(_ device: Fleet.Device) -> [(String, String)] {
        [json, agent, ("Authorization", "Bearer \(device.accessToken)"), ("X-Device-Info", SimulatedHardware.television.information)]
    }

    private static func set(_ device: Fleet.Device) -> String { FormEncoding.encode([("requestor", device.requestor), ("deviceId", device.id)]) }

    /// As apps ask before anyone is signed in: some say what they are.
    private static func lists(_ fleet: Fleet) -> RequestFile {
        var file = RequestFile()
        for (index, device) in fleet.devices.enumerated() {
            let said = index % 2 == 0 ? [("X-Device-Info", SimulatedHardware.television.information)] : []
            file.add("GET", "/api/v1/config/\(device.requestor)", headers: [json, agent] + said)
        }
        return file
    }

    static func checks(_ fleet: Fleet) -> RequestFile {
        var file = RequestFile()
        for device in fleet.devices { file.add("GET", "/api/v1/checkauthn?\(set(device))", headers: headers(device)) }
        return file
    }

    static func codes(_ fleet: Fleet) -> RequestFile {
        var file = RequestFile()
        for device in fleet.devices {
            file.add(
                "POST", "/reggie/v1/\(device.requestor)/regcode", headers: headers(device), form: FormEncoding.encode([("deviceId", device.id)]))
        }
        return file
    }

    /// - Parameter onNewDevices: True: each call makes a session; false: a device of each account comes again and again.
    private static func redeems(_ fleet: Fleet, onNewDevices: Bool) -> RequestFile {
        var file = RequestFile()
        for (number, device) in fleet.devices.enumerated() {
            guard let value = device.value else { continue }
            let id = onNewDevices ? RequestFile.mark : Data("second-\(number)".utf8).base64EncodedString()
            let own = [("AP-Device-Identifier", "fingerprint \(id)"), ("Idempotency-Key", "key-\(RequestFile.mark)")]
            file.add(
                "POST", "/auto-signin/v1/\(device.requestor)/redeem", headers: headers(device) + own,
                json: #"{"value":"\#(value)","bundleId":"\#(Fleet.bundleID)","environment":"sandbox"}"#)
        }
        return file
    }

    static func tokens(_ fleet: Fleet) -> RequestFile {
        var file = RequestFile()
        for device in fleet.devices {
            for resource in device.resources {
                file.add("GET", "/api/v1/mediatoken?\(set(device))&resource=\(FormEncoding.encode(resource))", headers: headers(device))
            }
        }
        return file
    }
}
