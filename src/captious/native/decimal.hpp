// Parses decimal numbers like std::from_chars, also with standard libraries that support it only for integers.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#if !defined(__cpp_lib_to_chars) || defined(CAPTIOUS_STRTOD)
#include <clocale>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

namespace captious {

#if defined(__cpp_lib_to_chars) && !defined(CAPTIOUS_STRTOD)

inline std::from_chars_result read_decimal(const char* first, const char* last, double& value) {
    return std::from_chars(first, last, value);
}

#else  // libc++

inline std::from_chars_result read_decimal(const char* first, const char* last, double& value) {
    auto digits = [last](const char* at) {
        while (at != last && *at >= '0' && *at <= '9') ++at;
        return at;
    };
    auto word = [last](const char* at, std::string_view name) {
        for (char letter : name) {
            if (at == last || (*at | 0x20) != letter) return false;
            ++at;
        }
        return true;
    };
    const char* at = first != last && *first == '-' ? first + 1 : first;
    const char* end = digits(at);
    bool any = end != at;
    if (end != last && *end == '.') {
        const char* fraction = digits(end + 1);
        any = any || fraction != end + 1;
        if (any) end = fraction;
    }
    if (any && end != last && (*end | 0x20) == 'e') {
        const char* sign = end + 1;
        if (sign != last && (*sign == '-' || *sign == '+')) ++sign;
        const char* exponent = digits(sign);
        if (exponent != sign) end = exponent;
    }
    if (!any) {
        if (word(at, "infinity"))
            end = at + 8;
        else if (word(at, "inf") || word(at, "nan"))
            end = at + 3;
        else
            return {first, std::errc::invalid_argument};
    }
    static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", locale_t{});
    double read = strtod_l(std::string(first, end).c_str(), nullptr, c_locale);
    bool nonzero = false;  // whether the digits are not all 0
    for (const char* digit = at; digit != end && (*digit | 0x20) != 'e'; ++digit)
        nonzero = nonzero || (*digit >= '1' && *digit <= '9');
    if (any && (std::isinf(read) || (read == 0.0 && nonzero))) return {end, std::errc::result_out_of_range};
    value = read;
    return {end, std::errc()};
}

#endif

}  // namespace captious
