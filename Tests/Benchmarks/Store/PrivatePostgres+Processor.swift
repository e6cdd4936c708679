import Foundation
import PrivatePostgres

extension PrivatePostgres {
    /// Microseconds of CPU that the server's processes have taken: fields 14 and 15 of /proc/PID/stat, in hundredths of a second (proc(5)).
    var processorMicroseconds: Double {
        guard let owner = pid else { return 0 }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.reduce(0) { sum, name in
            guard let stat = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8), let end = stat.lastIndex(of: ")") else { return sum }
            let fields = stat[end...].dropFirst().split(separator: " ")
            guard fields.count > 12, Int32(fields[1]) == owner || Int32(name) == owner else { return sum }
            return sum + ((Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0)) * 10_000
        }
    }
}
