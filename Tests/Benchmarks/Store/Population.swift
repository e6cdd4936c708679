import ArgumentParser

/// The devices of a filled store: the device of each number is known, so that any of them can be asked for.
enum Population {
    static let requestor = "ACME1"
    /// The device whose row, written by the service's own code, is the pattern of all.
    static let pattern = "00000000-0000-4000-8000-pattern"

    /// SQL for the device id of the number in the column `d`. Numbers in turn give ids in no order, as ids are in life. The multipliers are odd, so
    /// no two numbers below 2^32 have the same id.
    static let deviceSQL = "printf('%08x-%04x-4000-8000-%012x', (d * 2654435761) & 4294967295, (d * 40503) & 65535, d)"

    /// The same in Swift.
    static func device(_ number: Int) -> String {
        "\(hex((number &* 2_654_435_761) & 0xffff_ffff, 8))-\(hex((number &* 40503) & 0xffff, 4))-4000-8000-\(hex(number, 12))"
    }

    /// - Throws: `ValidationError` when the sessions are not those of whole devices.
    static func check(sessions: Int, perDevice: Int) throws {
        guard (1...64).contains(perDevice) else { throw ValidationError("A device has 1 to 64 sessions, not \(perDevice).") }
        guard sessions > 0, sessions % perDevice == 0 else { throw ValidationError("\(sessions) sessions are not \(perDevice) of each device.") }
    }

    private static func hex(_ number: Int, _ digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
