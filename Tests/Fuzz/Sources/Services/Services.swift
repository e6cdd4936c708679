internal import Glibc

/// One executable has these targets: the end of its name, behind the last `-`, chooses.
private let targets: [String: @Sendable (inout Input) -> Void] = [
    "Form": FormTarget.run, "DeviceInfo": DeviceInfoTarget.run, "Jwt": JwtTarget.run, "SignedRequest": SignedRequestTarget.run,
    "StoredToken": StoredTokenTarget.run, "Mrss": MrssTarget.run, "Metadata": MetadataTarget.run, "Upstream": UpstreamTarget.run,
    "Saml": SamlTarget.run,
]

private let chosen: @Sendable (inout Input) -> Void = {
    let name = CommandLine.arguments.first?.split(separator: "-").last.map { String($0) } ?? ""
    guard let target = targets[name] else { fatalError("there is no target '\(name)'; there are \(targets.keys.sorted().joined(separator: ", "))") }
    return target
}()

/// Inputs that a reader took, and whose meaning was checked: a target that only refuses checks nothing. `run` reads their number.
nonisolated(unsafe) private var taken = 0

func noteTaken() {
    if taken == 0 { atexit { print("stat::taken_units: \(taken)") } }
    taken += 1
}

/// No input of a few kilobytes may cost more than this, in milliseconds of processor time.
private let longest = 1_000

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzServices(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard count > 0 else { return 0 }
    let before = processorTime()
    var input = Input(UnsafeRawBufferPointer(start: start, count: count))
    chosen(&input)
    check(processorTime() - before < longest, "an input takes too long")
    return 0
}

private func processorTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

/// The fuzzer's input: choices in front, then texts.
struct Input {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    var isEmpty: Bool { rest.isEmpty }

    /// The next byte; 0 when there is none.
    mutating func byte() -> UInt8 {
        guard let first = rest.first else { return 0 }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
        return first
    }

    mutating func number() -> Int { Int(byte()) << 8 | Int(byte()) }

    /// Up to the next zero byte, which is taken off as well.
    mutating func part() -> [UInt8] {
        let end = rest.firstIndex(of: 0) ?? rest.endIndex
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[end...].dropFirst()) }
        return [UInt8](rest[..<end])
    }

    mutating func parts() -> [[UInt8]] {
        var parts: [[UInt8]] = []
        while !rest.isEmpty { parts.append(part()) }
        return parts
    }

    mutating func remainder() -> [UInt8] {
        defer { rest = UnsafeRawBufferPointer(start: nil, count: 0) }
        return [UInt8](rest)
    }
}

/// One byte of a text, replaced by another.
struct Edit {
    private let place: Int
    private let byte: UInt8

    init(_ input: inout Input) {
        place = input.number()
        byte = input.byte()
    }

    /// - Returns: The place that differs; `nil` when there is none.
    func apply(to bytes: inout [UInt8]) -> Int? {
        guard !bytes.isEmpty else { return nil }
        let index = place % bytes.count
        guard bytes[index] != byte else { return nil }
        bytes[index] = byte
        return index
    }
}

/// Unlike a precondition it says what, also in an optimised build.
func check(_ condition: Bool, _ what: StaticString) { if !condition { fatalError("\(what)") } }

func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }

extension [UInt8] {
    var text: String? { String(validating: self, as: UTF8.self) }

    func replacing(_ mark: String, with content: String) -> [UInt8] {
        let mark = Array(mark.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < count {
            if self[index...].starts(with: mark) {
                result += content.utf8
                index += mark.count
            } else {
                result.append(self[index])
                index += 1
            }
        }
        return result
    }
}
