import Foundation

/// `openssl speed`: how many signatures a second the cores make when they do nothing else.
struct SignatureSpeed {
    enum Algorithm: String {
        case ecdsaP256 = "ecdsap256"
        case rsa2048
    }

    let cores: Int

    /// Signatures a second, on all cores together.
    func measure(_ algorithm: Algorithm) throws -> Double {
        // The last line ends with the signatures and the verifications a second.
        let speed = "openssl speed -seconds 1 -multi \(cores) \(algorithm.rawValue) 2>/dev/null | grep . | tail -1"
        let line = try ChildProgram.lastLine("/bin/sh", ["-c", speed])
        let numbers = line.split(separator: " ").compactMap { Double($0) }
        guard numbers.count >= 2 else { throw BenchmarkFailure("openssl speed printed '\(line)'") }
        return numbers[numbers.count - 2]
    }
}
