import Simulation
import Foundation
import TextEncodings

/// One operation under load, with the goal that it is measured by.
struct Scenario {
    /// The measure that the rate is compared with.
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
    ///   - waiting: Devices with a registration code that nobody has signed in by.
    static func all(reference: Fleet, jws: Fleet, waiting: Fleet) -> [Scenario] {
        [
            Scenario(name: "MVPD list", measure: .hello, goal: 0.5, status: 200, requests: lists(reference)),
            Scenario(name: "checkauthn", measure: .hello, goal: 0.5, status: 200, requests: checks(reference)),
            Scenario(name: "checkauthn, waiting", measure: .hello, goal: 0.5, status: 403, requests: checks(waiting)),
            Scenario(name: "registration code", measure: .hello, goal: 0.2, status: 201, requests: codes(reference)),
            Scenario(name: "media token, ES256", measure: .signatures(.ecdsaP256), goal: 0.4, status: 200, requests: tokens(jws)),
            Scenario(name: "media token, reference", measure: .signatures(.rsa2048), goal: 0.85, status: 200, requests: tokens(reference)),
            Scenario(name: "authorize, ES256", measure: .hello, goal: 0, status: 200, requests: permits(jws)),
            Scenario(name: "authorize, reference", measure: .hello, goal: 0, status: 200, requests: permits(reference)),
            Scenario(name: "v2 configuration", measure: .hello, goal: 0.5, status: 200, requests: configurations(reference)),
            Scenario(name: "v2 profiles by code", measure: .hello, goal: 0, status: 200, requests: profilesByCode(reference)),
            Scenario(name: "v2 profiles by code, waiting", measure: .hello, goal: 0, status: 200, requests: profilesByCode(waiting)),
            Scenario(name: "v2 authorize, ES256", measure: .signatures(.ecdsaP256), goal: 0, status: 200, requests: decisions(jws)),
            Scenario(name: "v2 authorize, reference", measure: .signatures(.rsa2048), goal: 0, status: 200, requests: decisions(reference)),
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

    // MARK: REST v2

    private static func v2Headers(_ device: Fleet.Device) -> [(String, String)] {
        headers(device) + [("AP-Device-Identifier", "fingerprint \(Data(device.id.utf8).base64EncodedString())")]
    }

    private static func configurations(_ fleet: Fleet) -> RequestFile {
        var file = RequestFile()
        for device in fleet.devices { file.add("GET", "/api/v2/\(device.requestor)/configuration", headers: v2Headers(device)) }
        return file
    }

    private static func profilesByCode(_ fleet: Fleet) -> RequestFile {
        var file = RequestFile()
        for device in fleet.devices { file.add("GET", "/api/v2/\(device.requestor)/profiles/code/\(device.code)", headers: v2Headers(device)) }
        return file
    }

    private static func decisions(_ fleet: Fleet) -> RequestFile {
        var file = RequestFile()
        for device in fleet.devices {
            for resource in device.resources {
                file.add(
                    "POST", "/api/v2/\(device.requestor)/decisions/authorize/NorthCable", headers: v2Headers(device),
                    json: #"{"resources":["\#(resource)"]}"#)
            }
        }
        return file
    }

    /// The call that an app of REST v1 makes before it asks for a media token.
    private static func permits(_ fleet: Fleet) -> RequestFile {
        var file = RequestFile()
        for device in fleet.devices {
            for resource in device.resources {
                file.add("GET", "/api/v1/authorize?\(set(device))&resource=\(FormEncoding.encode(resource))", headers: headers(device))
            }
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
