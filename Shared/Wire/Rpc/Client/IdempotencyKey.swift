/// Names one change of state, so that a callee that sees it twice makes it once.
enum IdempotencyKey {
    /// 128 random bits as 32 lower-case hex digits.
    static func random() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16) + String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 32 - digits.utf8.count) + digits
    }
}
